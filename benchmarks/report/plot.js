const { round } = require('./table');

const WIDTH = 860;
const LABEL_WIDTH = 330;
const BAR_HEIGHT = 13;
const ROW_GAP = 10;
const TOP = 56;
const COLORS = { sternpost: '#1f6f8b', 'kube-apiserver': '#c0b9ab' };

/**
 * Bars, one row per scenario and one bar per server. Each row has its own scale: what is compared are servers, not
 * requests per second with MiB.
 */
function plot(rows, environment) {
  const names = Object.keys(COLORS).filter((name) => rows.some(({ servers }) => servers[name] !== undefined));
  const rowHeight = names.length * BAR_HEIGHT + ROW_GAP;
  const height = TOP + rows.length * rowHeight + 40;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    text(16, 24, 'Sternpost benchmarks', 'font-size="16" font-weight="bold"'),
    ...names.map((name, index) => legend(name, index)),
    ...rows.map((row, index) => bars(row, names, TOP + index * rowHeight)),
    text(16, height - 14, Object.values(environment).join(' · '), 'font-size="9" fill="#777777"'),
    '</svg>',
  ];
  return `${parts.join('\n')}\n`;
}

function legend(name, index) {
  const x = 16 + index * 130;
  return `<rect x="${x}" y="34" width="10" height="10" fill="${COLORS[name]}"/>${text(x + 16, 43, name)}`;
}

function bars({ title, unit, better, servers, ratio }, names, y) {
  const highest = Math.max(...Object.values(servers).map(({ value }) => value));
  const room = WIDTH - LABEL_WIDTH - 130;
  const label = `${title}${better === 'lower' ? ' (less is better)' : ''}`;
  const drawn = names.flatMap((name, index) => {
    const server = servers[name];
    if (server === undefined) return [];
    const width = Math.max(1, (server.value / highest) * room);
    const top = y + index * BAR_HEIGHT;
    const note = name === 'sternpost' && ratio !== undefined ? ` (${ratio.toFixed(1)} times better)` : '';
    return [
      `<rect x="${LABEL_WIDTH}" y="${top}" width="${width.toFixed(1)}" height="${BAR_HEIGHT - 2}" fill="${COLORS[name]}"/>`,
      text(LABEL_WIDTH + width + 6, top + 9, `${round(server.value)} ${unit}${note}`, 'font-size="10"'),
    ];
  });
  return [text(16, y + 9, label), ...drawn].join('\n');
}

function text(x, y, content, attributes = '') {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x.toFixed(1)}" y="${y}" ${attributes}>${escaped}</text>`;
}

module.exports = { plot };
