"""The system's Chromium, driven by Playwright: found, started without a network of its own, and closed.

No page reaches the network through Chromium itself: host names resolve to nothing there, and so do addresses. Whoever
starts it answers the requests of a page, or refuses them. Needs the extra `render`.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from untemplate.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

__all__ = ["close_browser", "find_chromium", "require_chromium", "start_chromium", "start_offline_tab"]

# Seconds that the browser may take to open, and to close before we abandon it.
MAX_OPENING_SECONDS = 60.0
MAX_CLOSING_SECONDS = 5.0

# Debian has Chromium without its window as a program of its own, which takes half of the processor time.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS = (
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND"),
    # WebRTC would send packets to addresses that a script chooses.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
_MAX_REASON = 200


def find_chromium() -> str | None:
    """Return the path of the system's Chromium; None if it is not installed."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


def require_chromium(purpose: str, executable: str | None = None) -> str:
    """Return the path of Chromium.

    Args:
        purpose: What needs it, as the subject of a sentence.
        executable: The path to use; by default the system's Chromium is searched.

    Raises:
        MissingExtra: Playwright is not installed.
        InputError: There is no Chromium.
    """
    try:
        import playwright.async_api  # noqa: F401
    except ImportError as error:
        raise MissingExtra("render", purpose) from error
    executable = executable or find_chromium()
    if executable is None:
        raise InputError(f"{purpose} needs Chromium. Install it: apt-get install chromium")
    return executable


async def start_chromium(playwright: Playwright, executable: str) -> Browser:
    """Start the browser, without any tab.

    Raises:
        InputError: It does not start.
        TimeoutError: It takes too long.
    """
    from playwright.async_api import Error

    try:
        return await asyncio.wait_for(
            playwright.chromium.launch(
                executable_path=executable,
                chromium_sandbox=os.geteuid() != 0,  # Chromium refuses to use it as root
                args=list(_ARGUMENTS),
            ),
            MAX_OPENING_SECONDS,
        )
    except Error as error:
        reason = " ".join(error.message.split())[:_MAX_REASON]
        raise InputError(f"{executable} does not start: {reason}") from error


async def start_offline_tab(playwright: Playwright, executable: str, width: int) -> Browser:
    """Start the browser with one tab of a width, in which no script runs and nothing is loaded."""
    browser = await start_chromium(playwright, executable)
    context = await browser.new_context(
        viewport={"width": width, "height": 1024},
        java_script_enabled=False,
        offline=True,
        service_workers="block",
        accept_downloads=False,
    )
    await context.route("**/*", lambda route: route.abort())
    await context.new_page()
    return browser


async def close_browser(browser: Browser | None) -> None:
    """Close the browser; abandon it if it hangs."""
    from playwright.async_api import Error

    if browser is not None:
        with suppress(TimeoutError, Error):
            await asyncio.wait_for(browser.close(), MAX_CLOSING_SECONDS)
