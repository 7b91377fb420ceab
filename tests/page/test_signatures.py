import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.linear_time import assert_linear
from untemplate.page import NO_TAGS, Signature, signature
from untemplate.page.tag_arrays import read_tags
from untemplate.page.traits import class_pairs, tag_runs

values = st.lists(st.none() | st.integers(0, 255), min_size=8, max_size=8).map(tuple)
signatures = values.map(Signature)

FULL = Signature.parse("01.02.03.04.05.06.07.08")
MASKED = Signature.parse("01.02.*.04.05.*.07.08")


def test_example_of_the_paper():
    assert MASKED.covers(FULL)
    assert not FULL.covers(MASKED)
    assert FULL.matches(MASKED)
    assert MASKED.matches(FULL)


def test_disagreement():
    other = Signature.parse("01.02.03.04.05.06.07.09")
    assert not MASKED.covers(other)
    assert not MASKED.matches(other)


@given(signatures)
def test_text_and_back(one):
    assert Signature.parse(str(one)) == one
    assert one.covers(one)
    assert hash(Signature.parse(str(one))) == hash(one)


@pytest.mark.parametrize(
    "text", ["", "01", "01.02.03.04.05.06.07", "01.02.03.04.05.06.07.08.09", "g0" + ".00" * 7]
)
def test_text_that_is_no_signature(text):
    with pytest.raises(ValueError, match="signature"):
        Signature.parse(text)


def test_saved_rules_keep_their_meaning():
    """Rules on disk hold signatures: what is computed today must be computed forever."""
    page = b"<html><body><div><ul>" + b"<li><a href='x'>y</a></li>" * 9 + b"</ul></div></body></html>"
    assert str(signature(page)) == "eb.d1.86.88.96.04.b0.0a"
    assert str(signature(b"<p>short")) == "c3.f7.5a.46.bf.8b.99.ae"


def test_pages_without_tags():
    for html in (b"", b"no tags", b"1 < 2", b"<!-- <p> -->", b"<!doctype html>", b"<"):
        assert signature(html) == NO_TAGS


def test_same_tags_same_signature():
    one = b"<html><body><DIV class=a>x</DIV><!-- <b> --><script>'<p>'</script></body></html>"
    two = b"<HTML ><body\n><div id='b'>other text</div ><script src=x>1<2</script></body></html>"
    assert signature(one) == signature(two)


def test_utf16_has_the_tags_of_utf8():
    html = "<html><body><p>ü</p></body></html>"
    assert signature(html.encode("utf-16")) == signature(html.encode())


def test_alike_pages_agree_and_others_do_not():
    def page(rows):
        head = "".join(
            f"<section><h{i % 6 + 1}>a</h{i % 6 + 1}><p>b<i>c</i></p></section>" for i in range(30)
        )
        return f"<html><body>{head}<table>{'<tr><td>x</td></tr>' * rows}</table></body></html>".encode()

    other = b"<html><body>" + b"<div><span>x</span><em>y</em></div>" * 40 + b"</body></html>"
    assert sum(signature(page(5)).values[i] == signature(page(50)).values[i] for i in range(8)) >= 6
    assert sum(signature(page(5)).values[i] == signature(other).values[i] for i in range(8)) <= 2


@given(st.binary(max_size=300))
def test_any_bytes(html):
    assert len(signature(html).values) == 8


@given(
    st.lists(
        st.sampled_from(["<!--", "-->", "<", ">", "/", "<script", "</script>", "<p ", "</", "a", "'", "\0"])
    )
)
def test_any_markup(parts):
    assert len(signature("".join(parts).encode()).values) == 8


def names(html):
    tags = ((int(tag) >> 63, int(tag) & ~(1 << 63)) for tag in read_tags(html).words)
    return ["/" * closing + name.to_bytes(8, "little").rstrip(b"\0").decode() for closing, name in tags]


def test_tags_in_order():
    assert names(b"<html><BODY class='x'><p>1 < 2<br/></p\n></body></html>") == (
        ["html", "body", "p", "br", "/p", "/body", "/html"]
    )


def test_long_names_are_cut_and_dashes_kept():
    assert names(b"<blockquote><my-tag x></my-tag>") == ["blockquo", "my-tag", "/my-tag"]


@pytest.mark.parametrize("raw", ["script", "STYLE"])
def test_scripts_and_styles_are_not_looked_into(raw):
    html = f"<p><{raw} a=b>'<b>' <!-- </i> </{raw}><i>".encode()
    assert names(html) == ["p", raw.lower(), "/" + raw.lower(), "i"]


def test_comments_are_not_looked_into():
    assert names(b"<p><!-- <b> <script> --><i><!--><u><!---><s>") == ["p", "i", "u", "s"]


def test_what_is_never_closed_swallows_the_rest():
    assert names(b"<p><!-- <b><i>") == ["p"]
    assert names(b"<p><script><b><i>") == ["p", "script"]


@pytest.mark.parametrize(
    ("start", "unit"),
    [
        (b"", b"<!--"),
        (b"", b"<!---->"),
        (b"", b"<"),
        (b"", b"<!"),
        (b"", b"<script>"),
        (b"", b"<script></script>"),
        (b"", b"<style><script></style>"),
        (b"", b"<a"),
        (b"<a ", b"x='<b' "),
        (b"<a title='", b"x"),
        (b"", b"</"),
        (b"", b"--><!-"),
    ],
)
def test_hostile_pages_take_linear_time(start, unit):
    def work(size):
        html = start + unit * size
        signature(html)
        tags = read_tags(html)
        tag_runs(tags)
        class_pairs(tags)

    assert_linear(work, 20_000, 400_000)
