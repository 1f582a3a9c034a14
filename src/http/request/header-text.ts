/** What a client means by a header's value: HTTP hands over bytes, each as the character with its number; they are UTF-8. */
export function headerText(value: string): string {
  return ABOVE_ASCII.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;
}

const ABOVE_ASCII = /[\x80-\xff]/;
