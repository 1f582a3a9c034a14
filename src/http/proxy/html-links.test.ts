import fc from 'fast-check';
import { HtmlLinks } from './html-links';
import { proxiedLink } from './links';

const place = { targetHost: '10.0.0.1:80', clientHost: 'api:6443', root: '/proxy' };

function changed(html: string, pieceLength = html.length): string {
  const links = new HtmlLinks((link) => proxiedLink(link, place));
  let out = '';
  for (let at = 0; at < html.length; at += pieceLength) out += links.push(html.slice(at, at + pieceLength));
  return out + links.end();
}

describe('links of a page', () => {
  it.each([
    ['<a href="/x">', '<a href="/proxy/x">'],
    ["<A HREF = '/x' class=b>", "<A HREF = '/proxy/x' class=b>"],
    ['<img src=/i.png>', '<img src=/proxy/i.png>'],
    ['<img src="http://10.0.0.1:80/i.png"/>', '<img src="/proxy/i.png"/>'],
    ['<a title="a>b" href="/x">', '<a title="a>b" href="/proxy/x">'],
    ['<form action="/post?a=/b#/c">', '<form action="/proxy/post?a=/b#/c">'],
    [
      '<script src="/s.js">if (a<b) "<a href=/x>"</script><a href="/y">',
      '<script src="/proxy/s.js">if (a<b) "<a href=/x>"</script><a href="/proxy/y">',
    ],
  ])('that lead to the target lead through the proxy: %s', (html, expected) => {
    expect(changed(html)).toBe(expected);
  });

  it.each([
    '<a href="rel">',
    '<a href="https://example.com/x">',
    '<a href="mailto:a@b">',
    '<a href="#top">',
    '<a name="/x">',
    '<!-- <a href="/x"> -->',
    '<!DOCTYPE html>',
    'a < b <3 <',
    '<p href="/x">',
    '<a href',
    '<a href="/proxy/x">',
  ])('and other text stay as they are: %s', (html) => {
    expect(changed(html)).toBe(html);
  });

  it('are the same however the page is cut', () => {
    const html = '<html><a href="/x">a</a><!-- <a href="/y"> --><script>"</a>"</script><img src=\'/z\' alt="<">end <b';
    const whole = changed(html);
    fc.assert(fc.property(fc.integer({ min: 1, max: html.length }), (length) => changed(html, length) === whole));
  });

  it('leave a tag without end as it is, and what comes after it', () => {
    const html = `<a href="${'x'.repeat(100_000)}`;
    expect(changed(html, 1_000)).toBe(html);
  });
});

describe('a redirect', () => {
  it.each([
    ['/login?a=b', '/proxy/login?a=b'],
    ['http://10.0.0.1:80/abs', '/proxy/abs'],
    ['https://example.com/other', 'https://example.com/other'],
    ['rel', 'rel'],
    ['//10.0.0.1:80/abs', '/proxy/abs'],
    ['//elsewhere/abs', '//elsewhere/abs'],
  ])('to %s leads to %s', (link, expected) => {
    expect(proxiedLink(link, place)).toBe(expected);
  });
});
