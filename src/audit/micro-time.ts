let lastSecond = -1;
let lastText = '';

/** `2024-03-01T10:20:30.123456Z`, of milliseconds since 1970 with a fraction. The seconds are the same for many events. */
export function microTime(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastText = new Date(second * 1000).toISOString().slice(0, -4);
  }
  const micros = Math.floor((milliseconds - second * 1000) * 1000);
  return `${lastText}${String(micros).padStart(6, '0')}Z`;
}
