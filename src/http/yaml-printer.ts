import { Document, Scalar, parse, visit } from 'yaml';

/**
 * YAML as kube-apiserver writes it: keys in order, lists not indented, texts without quotes where they stay texts (read
 * by the rules of YAML 1.1, in which `yes` is a boolean), in double quotes where they would not, in single quotes where
 * punctuation asks for them.
 */
export function printYaml(value: unknown): string {
  // Through JSON, which drops what is undefined and knows no references.
  const document = new Document(JSON.parse(JSON.stringify(value)) as unknown, {
    version: '1.1',
    sortMapEntries: true,
    aliasDuplicateObjects: false,
  });
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === 'string' && !node.value.includes('\n') && resolvesToOther(node.value)) {
        node.type = Scalar.QUOTE_DOUBLE;
      }
    },
  });
  return document.toString({ indentSeq: false, singleQuote: true, lineWidth: 80, directives: false });
}

function resolvesToOther(text: string): boolean {
  if (text === '') return true;
  if (!/^[-+.\d~=<nNyYtTfFoO]/.test(text)) return false;
  try {
    return typeof parse(text, { version: '1.1', logLevel: 'silent' }) !== 'string';
  } catch {
    return false;
  }
}
