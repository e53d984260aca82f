// Names the texts of a page whose contrast with what is behind them is under 4.5 to 1.
() => {
  const shade = text => {
    const [r, g, b] = text.match(/[\d.]+/g).map(Number).map(c => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = element => {
    for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor;
      if (!/, 0\)$|transparent/.test(colour)) return colour;
    }
    return getComputedStyle(document.documentElement).backgroundColor;
  };
  const wrong = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    const box = element.getBoundingClientRect();
    if (!own || !box.width || !box.height || element.closest("svg, .dim, [hidden], .skip")) continue;
    const [low, high] = [shade(getComputedStyle(element).color), shade(behind(element))].sort((a, b) => a - b);
    const ratio = (high + .05) / (low + .05);
    if (ratio < 4.5) wrong.push(`${element.tagName} ${element.className} ${ratio.toFixed(2)} ${element.textContent.slice(0, 30)}`);
  }
  for (const text of document.querySelectorAll("svg text")) {
    const cell = text.parentElement.matches("a") ? text.parentElement.querySelector("rect") : text.previousElementSibling;
    const fill = cell && cell.tagName === "rect" && !cell.matches(".free") ? getComputedStyle(cell).fill : behind(text.closest("svg").parentElement);
    const [low, high] = [shade(getComputedStyle(text).fill), shade(fill)].sort((a, b) => a - b);
    if ((high + .05) / (low + .05) < 4.5) wrong.push(`svg ${text.textContent} ${text.getAttribute("class")} ${((high + .05) / (low + .05)).toFixed(2)}`);
  }
  return [...new Set(wrong)];
}
