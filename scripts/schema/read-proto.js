/** Reads the .proto files into plain descriptors; `src/api/schema/descriptor.ts` states their shape. */
const fs = require('node:fs');
const path = require('node:path');
const protobuf = require('protobufjs');

const SCALARS = new Set(['string', 'bool', 'int32', 'int64', 'double', 'bytes']);
/** Messages that describe a wire format of somebody else's and are no API types. */
const NOT_API = new Set(['openapi']);

/**
 * @param {string} folder
 * @returns {{ files: object[], problems: string[] }} descriptors in path order; each problem begins with the file's path
 */
function readProtoFolder(folder) {
  const declared = readDeclaredOptions(path.join(folder, 'sternpost', 'options.proto'));
  const problems = [];
  const files = protoPaths(folder).map((name) => readFile(folder, name, declared, problems));
  const messages = new Map(files.flatMap((file) => file.messages.map((m) => [`${file.package}.${m.name}`, m])));
  for (const file of files) {
    for (const message of file.messages) checkMessage(file, message, messages, problems);
  }
  return { files, problems };
}

function protoPaths(folder) {
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !NOT_API.has(entry.name))
    .flatMap((entry) => fs.readdirSync(path.join(folder, entry.name)).map((name) => `${entry.name}/${name}`))
    .filter((name) => name.endsWith('.proto') && name !== 'sternpost/options.proto')
    .sort();
}

function parse(file) {
  const parsed = protobuf.parse(fs.readFileSync(file, 'utf8'), new protobuf.Root(), {
    keepCase: true,
    alternateCommentMode: true,
  });
  return {
    package: parsed.package ?? '',
    namespace: parsed.package ? parsed.root.lookup(parsed.package) : parsed.root,
  };
}

/** The option names that options.proto declares for files, messages and fields. */
function readDeclaredOptions(file) {
  const names = { FileOptions: new Set(), MessageOptions: new Set(), FieldOptions: new Set() };
  for (const extension of parse(file).namespace.nestedArray) {
    names[extension.extend.split('.').at(-1)].add(extension.name);
  }
  return names;
}

function readFile(folder, name, declared, problems) {
  const { package: packageName, namespace } = parse(path.join(folder, name));
  const ours = (options, scope, where) =>
    readOptions(options, declared[scope], (text) => problems.push(`${name}: ${where}${text}`));
  const { group, version } = ours(namespace.options, 'FileOptions', '');
  const messages = namespace.nestedArray.map((message) => readMessage(message, packageName, ours));
  return {
    path: name.slice(0, -'.proto'.length),
    package: packageName,
    ...(group === undefined ? {} : { group, version }),
    messages,
  };
}

/** The options in parentheses without them; a name that nobody declared is a problem. */
function readOptions(options, declared, report) {
  const found = {};
  for (const [key, value] of Object.entries(options ?? {})) {
    const custom = /^\((\w+)\)$/.exec(key)?.[1];
    if (custom === undefined) continue;
    if (!declared.has(custom)) report(`option (${custom}) is not declared in sternpost/options.proto`);
    found[custom] = value;
  }
  return found;
}

function readMessage(message, packageName, ours) {
  const options = ours(message.options, 'MessageOptions', `${message.name}: `);
  return compact({
    name: message.name,
    description: oneLine(message.comment),
    kind: options.kind,
    struct: options.struct,
    jsonForm: options.json_form,
    wrappedList: options.wrapped_list,
    jsonOnly: options.json_only,
    union: options.union?.split(','),
    fields: message.fieldsArray.map((field) => readField(field, message, packageName, ours)),
  });
}

function readField(field, message, packageName, ours) {
  const options = ours(field.options, 'FieldOptions', `${message.name}.${field.name}: `);
  const type = SCALARS.has(field.type) || field.type.includes('.') ? field.type : `${packageName}.${field.type}`;
  return compact({
    name: field.options?.json_name ?? field.name,
    wireName: field.options?.json_name === undefined ? undefined : field.name,
    number: field.id,
    type,
    shape: field.map ? 'map' : field.repeated ? 'list' : undefined,
    inline: options.inline,
    pointer: options.pointer,
    required: options.required,
    always: options.always,
    list: options.list,
    keys: options.keys?.split(','),
    map: options.map,
    structure: options.structure,
    patch: options.patch,
    mergeKey: options.merge_key,
    retainKeys: options.retain_keys,
    default: options.default === undefined ? undefined : defaultValue(type, field, options.default),
    enum: options.enum?.split(','),
    description: oneLine(field.comment),
  });
}

/** The bare text is the value of a string field; it is JSON text for any other. Undefined when it does not parse. */
function defaultValue(type, field, text) {
  if (type === 'string' && !field.repeated && !field.map) return String(text);
  try {
    return JSON.parse(text);
  } catch {
    return { notJson: text };
  }
}

function checkMessage(file, message, messages, problems) {
  const numbers = new Map();
  for (const field of message.fields) {
    const report = (text) => problems.push(`${file.path}.proto: ${message.name}.${field.name}: ${text}`);
    if (numbers.has(field.number)) report(`number ${field.number} is taken by ${numbers.get(field.number)}`);
    numbers.set(field.number, field.name);
    const target = messages.get(field.type);
    if (target === undefined && !SCALARS.has(field.type)) report(`no message ${field.type}`);
    if (field.list === 'map' && field.keys === undefined) report('a list of type "map" needs keys');
    for (const key of field.keys ?? []) {
      if (!flatFields(target, messages).has(key)) report(`items have no field ${key}`);
    }
    if (field.mergeKey !== undefined && !flatFields(target, messages).has(field.mergeKey)) {
      report(`items have no field ${field.mergeKey}`);
    }
    if (field.default?.notJson !== undefined) report('the default is no JSON text');
  }
}

/** Names of the JSON fields, those of inlined messages among them. */
function flatFields(message, messages) {
  const names = (message?.fields ?? []).flatMap((field) =>
    field.inline ? [...flatFields(messages.get(field.type), messages)] : [field.name],
  );
  return new Set(names);
}

function oneLine(comment) {
  return comment ? comment.replace(/\s+/g, ' ').trim() : undefined;
}

function compact(record) {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

module.exports = { readProtoFolder };
