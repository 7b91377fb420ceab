// Where every element with this mark and every text of the page stands, as JSON: rows of numbers.
(mark) => {
  const round = (number) => Math.round(number * 100) / 100;
  const place = (rect) => [rect.left + scrollX, rect.top + scrollY, rect.width, rect.height].map(round);
  const marked = (element) => (element && element.hasAttribute(mark) ? +element.getAttribute(mark) : -1);
  const elements = [];
  for (const element of document.querySelectorAll(`[${mark}]`)) {
    const style = getComputedStyle(element);
    const shown = element.checkVisibility({ visibilityProperty: true });
    const looks = [parseFloat(style.fontSize) || 0, parseInt(style.fontWeight) || 0, Number(shown)];
    elements.push([marked(element), ...place(element.getBoundingClientRect()), ...looks]);
  }
  const texts = [];
  const range = document.createRange();
  const walker = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    const start = text.data.replace(/[\s\u001c-\u001f\u0085]+/g, "").slice(0, 64);
    if (start) {
      range.selectNodeContents(text);
      texts.push([start, marked(text.parentElement), ...place(range.getBoundingClientRect())]);
    }
  }
  return JSON.stringify({ elements, texts });
};
