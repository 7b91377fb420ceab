"""Data that a page marks in its own tags."""

from __future__ import annotations

from lxml import etree

from untemplate.page.microdata import read_microdata, read_rdfa


def test_items_inside_items() -> None:
    html = """<div itemscope itemtype="http://schema.org/Book"><b itemprop="name">Emma</b>
      <p itemprop="author" itemscope itemtype="http://schema.org/Person"><i itemprop="name">Jane</i></p>
      <time itemprop="datePublished" datetime="1815-12-23">1815</time><time itemprop="copyrightYear">1815</time>
      <meta itemprop="isbn" content="978"></div>"""
    assert read_microdata(etree.HTML(html)) == [
        {
            "@type": ["http://schema.org/Book"],
            "name": ["Emma"],
            "author": [{"@type": ["http://schema.org/Person"], "name": ["Jane"]}],
            "datePublished": ["1815-12-23"],
            "copyrightYear": ["1815"],
            "isbn": ["978"],
        }
    ]


def test_properties_outside_of_items_are_ignored() -> None:
    assert read_microdata(etree.HTML('<b itemprop="name">Emma</b>')) == []
    assert read_rdfa(etree.HTML('<meta property="og:title" content="Emma">')) == []


def test_several_names_of_a_value() -> None:
    html = '<p typeof="schema:Book"><b property="schema:name http://purl.org/dc/terms/title">Emma</b></p>'
    assert read_rdfa(etree.HTML(html)) == [{"@type": ["schema:Book"], "name": ["Emma"], "title": ["Emma"]}]
