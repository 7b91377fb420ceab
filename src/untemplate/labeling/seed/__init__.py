"""One labeled site teaches a vertical: our method "seed", and "From One Tree to a Forest" as published."""
