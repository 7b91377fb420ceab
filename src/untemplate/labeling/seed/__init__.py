"""One labelled seed site teaches a vertical: "From One Tree to a Forest", faithfully and better."""
