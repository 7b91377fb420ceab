"""What classes of common style sheets hide on a wide screen, and what they keep for screen readers."""

from __future__ import annotations

import pytest

from untemplate.lists.hiding_names import hides_on_wide_screens, is_for_screen_readers


@pytest.mark.parametrize(
    "classes",
    [
        *(
            "hidden",
            "card Hidden",
            "ng-hide",
            "gs-watermark",
            "hidden-sm hidden-md hidden-lg",
            "visible-xs-block",
        ),
        *("d-lg-none", "price lg:hidden", "show-for-small-only", "uk-hidden@m", "hide-on-med-and-up"),
        *("is-hidden-desktop", "elementor-hidden-desktop", "mobile-only", "visible-phone hidden-desktop"),
    ],
)
def test_classes_that_hide(classes: str) -> None:
    assert hides_on_wide_screens(classes)


@pytest.mark.parametrize(
    "classes",
    [
        *(
            "",
            "card",
            "hidden-xs",
            "visible-lg",
            "visible-xs visible-lg",
            "d-none d-md-block",
            "d-md-none d-xl-block",
        ),
        *(
            "hidden md:block",
            "md:hidden xl:flex",
            "overflow-hidden",
            "unhide",
            "hidden-price",
            "desktop-only",
        ),
        *("is-hidden-mobile", "hide-for-small-only", "off-screen"),
    ],
)
def test_classes_that_show(classes: str) -> None:
    assert not hides_on_wide_screens(classes)


@pytest.mark.parametrize(
    "classes",
    [
        *(
            "sr-only",
            "is-sr-only",
            "visually-hidden",
            "u-visuallyhidden",
            "screen-reader-text",
            "screenReader",
        ),
        *("offscreen", "acc-off-screen", "accessible-description", "accessibility-text", "hiddenVisually"),
        *("a11y-hidden", "assistive-text", "show-for-sr"),
    ],
)
def test_classes_for_screen_readers(classes: str) -> None:
    assert is_for_screen_readers(classes)


@pytest.mark.parametrize(
    "classes", ["", "accessible", "wheelchair-accessible", "sr-result", "screen", "reader-list"]
)
def test_classes_for_everybody(classes: str) -> None:
    assert not is_for_screen_readers(classes)
