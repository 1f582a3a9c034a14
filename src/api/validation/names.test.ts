import { dns1035LabelName, dnsLabelName, dnsSubdomainName, pathSegmentName } from './names';

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

describe('names', () => {
  it.each([
    ['a', []],
    ['a.b-c.9', []],
    ['0', []],
    ['A', [SUBDOMAIN]],
    ['a..b', [SUBDOMAIN]],
    ['a-', [SUBDOMAIN]],
    ['a_b', [SUBDOMAIN]],
    ['a\n', [SUBDOMAIN]],
    ['', [SUBDOMAIN]],
    ['b'.repeat(253), []],
    ['b'.repeat(254), ['must be no more than 253 characters']],
    ['B'.repeat(254), ['must be no more than 253 characters', SUBDOMAIN]],
    ['B.'.repeat(1_000_000), ['must be no more than 253 characters']],
  ])('that are subdomains: %j', (name, problems) => {
    expect(dnsSubdomainName(name, false)).toEqual(problems);
  });

  it.each([
    ['a-b', []],
    ['1', []],
    ['a.b', [LABEL]],
    ['b'.repeat(64), ['must be no more than 63 characters']],
  ])('that are labels: %j', (name, problems) => {
    expect(dnsLabelName(name, false)).toEqual(problems);
  });

  it.each([
    ['a-1', []],
    ['1a', [LABEL_1035]],
  ])('that are labels of RFC 1035: %j', (name, problems) => {
    expect(dns1035LabelName(name, false)).toEqual(problems);
  });

  it.each([
    ['.', ["may not be '.'"]],
    ['..', ["may not be '..'"]],
    ['a/b%', ["may not contain '/'", "may not contain '%'"]],
    ['A:b', []],
  ])('that fit into a path: %j', (name, problems) => {
    expect(pathSegmentName(name, false)).toEqual(problems);
  });

  it('as prefixes may end in a dash', () => {
    expect(dnsSubdomainName('g-', true)).toEqual([]);
    expect(dnsSubdomainName('g-', false)).toEqual([SUBDOMAIN]);
    expect(dnsSubdomainName('dot.', true)).toEqual([SUBDOMAIN]);
    expect(dnsSubdomainName('-', true)).toEqual([SUBDOMAIN]);
    expect(pathSegmentName('.', true)).toEqual([]);
  });
});
