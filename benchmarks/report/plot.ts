import type { Row } from './results';
import { round } from './table';

interface Columns {
  readonly left: number;
  readonly barWidth: number;
}

const WIDTH = 860;
const LABEL_GAP = 12;
const NOTE_GAP = 6;
/** No character of the labels is wider than this on average; the viewer's font is not known. */
const LABEL_CHARACTER_WIDTH = 6.2;
const NOTE_CHARACTER_WIDTH = 5.6;
const BAR_HEIGHT = 13;
const ROW_GAP = 10;
const TOP = 56;
const COLORS: Readonly<Record<string, string>> = { sternpost: '#1f6f8b', 'kube-apiserver': '#c0b9ab' };

/**
 * One row per scenario. With two servers each has a bar, on a scale of the row's own: what is compared are servers, not
 * requests per second with MiB. One server alone has nothing to be compared with, and its figures stand without bars.
 */
export function plot(rows: readonly Row[], environment: Readonly<Record<string, string>>): string {
  const names = Object.keys(COLORS).filter((name) => rows.some(({ servers }) => servers[name] !== undefined));
  const columns = columnsOf(rows, names);
  const rowHeight = names.length * BAR_HEIGHT + ROW_GAP;
  const height = TOP + rows.length * rowHeight + 40;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    text(16, 24, 'Sternpost benchmarks', 'font-size="16" font-weight="bold"'),
    ...names.map((name, index) => legend(name, index)),
    ...rows.map((row, index) => printRow(row, names, columns, TOP + index * rowHeight)),
    text(16, height - 14, Object.values(environment).join(' · '), 'font-size="9" fill="#777777"'),
    '</svg>',
  ];
  return `${parts.join('\n')}\n`;
}

function legend(name: string, index: number): string {
  const x = 16 + index * 130;
  return `<rect x="${x}" y="34" width="10" height="10" fill="${COLORS[name] ?? ''}"/>${text(x + 16, 43, name)}`;
}

/** Where figures begin, right of the longest label, and how long a bar may be, left of the longest figure. */
function columnsOf(rows: readonly Row[], names: readonly string[]): Columns {
  const longest = (texts: readonly string[]) => Math.max(0, ...texts.map(({ length }) => length));
  const left = 16 + longest(rows.map(labelOf)) * LABEL_CHARACTER_WIDTH + LABEL_GAP;
  const notes = rows.flatMap((row) => names.map((name) => noteOf(row, name)));
  const barWidth = WIDTH - left - longest(notes) * NOTE_CHARACTER_WIDTH - 2 * NOTE_GAP;
  return { left, barWidth: names.length > 1 ? barWidth : 0 };
}

function labelOf({ title, better }: Row): string {
  return `${title}${better === 'lower' ? ' (less is better)' : ''}`;
}

function noteOf({ servers, unit, ratio }: Row, name: string): string {
  const server = servers[name];
  if (server === undefined) return '';
  const comparison = name === 'sternpost' && ratio !== undefined ? ` (${ratio.toFixed(1)} times better)` : '';
  return `${round(server.value)} ${unit}${comparison}`;
}

function printRow(row: Row, names: readonly string[], { left, barWidth }: Columns, y: number): string {
  const highest = Math.max(...Object.values(row.servers).map(({ value }) => value));
  const lines = names.flatMap((name, index) => {
    const server = row.servers[name];
    if (server === undefined) return [];
    const top = y + index * BAR_HEIGHT;
    const note = (x: number) => text(x, top + 9, noteOf(row, name), 'font-size="10"');
    if (barWidth === 0) return [note(left)];
    const width = Math.max(1, (server.value / highest) * barWidth);
    return [
      `<rect x="${left.toFixed(1)}" y="${top}" width="${width.toFixed(1)}" height="${BAR_HEIGHT - 2}" fill="${COLORS[name] ?? ''}"/>`,
      note(left + width + NOTE_GAP),
    ];
  });
  return [text(16, y + 9, labelOf(row)), ...lines].join('\n');
}

function text(x: number, y: number, content: string, attributes = ''): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x.toFixed(1)}" y="${y}" ${attributes}>${escaped}</text>`;
}
