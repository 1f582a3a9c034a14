/**
 * Derives the interruptible form of plain algorithms, so that each is written once: small objects take the plain functions,
 * absurdly large ones take the same functions as generators that say after some rounds of their loops that others may have
 * their turn (`Steps`, src/api/steps/pace.ts).
 *
 * Of a module, every function and method that has a loop, or that calls one that becomes a generator, becomes one; its calls
 * become `yield*`. Of the rest, what is exported is imported from the plain module and what is private is copied. What cannot be
 * derived is refused: a call of a generator inside of a closure, and private state, which the two would not share.
 */
import * as path from 'node:path';
import ts from 'typescript';

const LOOPS = new Set([
  ts.SyntaxKind.ForStatement,
  ts.SyntaxKind.ForInStatement,
  ts.SyntaxKind.ForOfStatement,
  ts.SyntaxKind.WhileStatement,
  ts.SyntaxKind.DoStatement,
]);

/**
 * The text of each derived module, by its name. `modules`: names relative to `folder`, without extension; a module comes after those
 * of which it imports. `outFolder`: where the derived ones will stand.
 */
export function deriveSteps(
  folder: string,
  outFolder: string,
  modules: readonly string[],
  read: (file: string) => string,
): ReadonlyMap<string, string> {
  const derived = new Map<string, StepsModule>();
  const texts = new Map<string, string>();
  for (const [name, functions] of HANDWRITTEN) derived.set(name, new HandwrittenModule(folder, name, functions));
  for (const name of modules) {
    const file = path.join(folder, `${sourceOf(name)}.ts`);
    const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.ES2023, true);
    const module = new DerivedModule(name, source, folder, outFolder, derived);
    derived.set(name, module);
    texts.set(name, module.print());
  }
  return texts;
}

/** What the platform does in one go has another form in turns, written by hand: `steps/<last part of the name>.ts`. */
const HANDWRITTEN: readonly (readonly [name: string, functions: readonly string[]])[] = [
  ['copy-map', ['copyMap', 'finishMap']],
  ['apply/copy-children', ['copyChildren']],
  ['apply/fields-text', ['fieldsText']],
  ['apply/shape', ['shapeOf']],
];

/** Those that walk over maps which may change afterwards. Of all others, which names a map has is remembered. */
const CHANGING = new Set(['patch/json-equal', 'patch/json-patch', 'patch/copied-value', 'codec/json-depth']);

/** The same for maps that nobody changes any more. */
const OF_FINISHED = new Map([['patch/finished-equal', 'patch/json-equal']]);

function sourceOf(name: string): string {
  return OF_FINISHED.get(name) ?? name;
}

/** What a module gives to those that import from it, in the form in steps. */
interface StepsModule {
  readonly outFile: string;
  /** Whether importers get a generator, or a class with some, of that name. */
  provides(name: string): boolean;
  isLongFunction(name: string): boolean;
  /** Names of the methods of the class that are generators. */
  longMethodsOf(className: string): readonly string[];
}

type Method = ts.MethodDeclaration & { readonly body: ts.Block };
type Func = ts.FunctionDeclaration & { readonly body: ts.Block };

interface Import {
  /** The module, as the derived text refers to it. */
  readonly from: string;
  readonly type: boolean;
  readonly other: StepsModule | undefined;
  /** It is a generator. */
  readonly long: boolean;
}

interface Edit {
  readonly at: number;
  readonly text: string;
  readonly order: number;
}

class HandwrittenModule implements StepsModule {
  readonly outFile: string;
  readonly #functions: ReadonlySet<string>;

  constructor(folder: string, name: string, functions: readonly string[]) {
    this.outFile = path.join(folder, 'steps', `${path.basename(name)}.ts`);
    this.#functions = new Set(functions);
  }

  provides(name: string): boolean {
    return this.#functions.has(name);
  }

  isLongFunction(name: string): boolean {
    return this.#functions.has(name);
  }

  longMethodsOf(): readonly string[] {
    return [];
  }
}

class DerivedModule implements StepsModule {
  readonly outFile: string;
  private readonly name: string;
  private readonly source: ts.SourceFile;
  private readonly folder: string;
  private readonly file: string;
  private readonly others: ReadonlyMap<string, StepsModule>;
  /** Imported names: from which module, whether as a type. */
  private readonly imports = new Map<string, Import>();
  private readonly functions: readonly Func[];
  private readonly classes: readonly ts.ClassDeclaration[];
  /** Names of functions and methods that become generators. */
  private readonly long: Set<string>;
  private readonly longMethods: Set<string>;
  private readonly longClasses: ReadonlySet<string>;
  private readonly exported: ReadonlySet<string>;
  private edits: Edit[] = [];
  private skipped: { readonly from: number; readonly to: number }[] = [];

  constructor(
    name: string,
    source: ts.SourceFile,
    folder: string,
    outFolder: string,
    others: ReadonlyMap<string, StepsModule>,
  ) {
    this.name = name;
    this.source = source;
    this.folder = folder;
    this.outFile = path.join(outFolder, `${name}.ts`);
    this.file = path.join(folder, `${sourceOf(name)}.ts`);
    this.others = others;
    this.readImports();
    this.functions = source.statements.filter(isFunction);
    this.classes = source.statements.filter(ts.isClassDeclaration);
    this.long = new Set([...this.imports].filter(([, { long }]) => long).map(([imported]) => imported));
    this.longMethods = new Set(
      [...this.imports].flatMap(([imported, { other }]) => other?.longMethodsOf(imported) ?? []),
    );
    this.findLong();
    this.longClasses = new Set(
      this.classes.filter((one) => methodsOf(one).some((method) => this.longMethods.has(nameOf(method)))).map(nameOf),
    );
    this.exported = new Set(source.statements.filter(isExported).flatMap(namesOf));
  }

  provides(name: string): boolean {
    return this.exported.has(name) && (this.isLongFunction(name) || this.longClasses.has(name));
  }

  longMethodsOf(className: string): readonly string[] {
    const found = this.classes.find((one) => nameOf(one) === className);
    return found === undefined
      ? []
      : methodsOf(found)
          .map(nameOf)
          .filter((name) => this.longMethods.has(name));
  }

  isLongFunction(name: string): boolean {
    return this.long.has(name) && !this.imports.has(name);
  }

  private readImports(): void {
    for (const statement of this.source.statements.filter(ts.isImportDeclaration)) {
      const specifier = (statement.moduleSpecifier as ts.StringLiteral).text;
      const { importClause } = statement;
      const namedBindings = importClause?.namedBindings;
      if (namedBindings === undefined || !ts.isNamedImports(namedBindings)) this.refuse(statement, 'imports no names');
      const isTypeOnly = importClause?.isTypeOnly === true;
      const target = specifier.startsWith('.') ? path.join(path.dirname(this.file), specifier) : specifier;
      const other = this.others.get(this.formOf(path.relative(this.folder, target)));
      for (const element of namedBindings.elements) {
        const name = element.name.text;
        const type = isTypeOnly || element.isTypeOnly;
        const provided = other !== undefined && other.provides(name);
        const from = provided ? other.outFile.replace(/\.ts$/, '') : target;
        this.imports.set(name, { from, type, other, long: provided && other.isLongFunction(name) });
      }
    }
  }

  /** Which form of a module serves this one. */
  private formOf(imported: string): string {
    if (CHANGING.has(this.name)) return imported;
    const ofFinished = [...OF_FINISHED].find(([name, source]) => source === imported && name !== this.name);
    return ofFinished?.[0] ?? imported;
  }

  /** Until nothing is found any more: who calls a generator has to be one. */
  private findLong(): void {
    for (let before = -1; before !== this.long.size + this.longMethods.size;) {
      before = this.long.size + this.longMethods.size;
      for (const one of this.functions) if (this.isLong(one)) this.long.add(nameOf(one));
      for (const one of this.classes.flatMap(methodsOf)) if (this.isLong(one)) this.longMethods.add(nameOf(one));
    }
  }

  private isLong(unit: Func | Method): boolean {
    let found = false;
    const visit = (node: ts.Node): void => {
      if (isLoop(node) || this.isLongCall(node)) found = true;
      if (!found) ts.forEachChild(node, visit);
    };
    visit(unit.body);
    return found;
  }

  private isLongCall(node: ts.Node): boolean {
    if (!ts.isCallExpression(node)) return false;
    const { expression } = node;
    if (ts.isIdentifier(expression)) return this.long.has(expression.text);
    return ts.isPropertyAccessExpression(expression) && this.longMethods.has(expression.name.text);
  }

  print(): string {
    const units = this.withPrivateParts([
      ...this.functions.filter((one) => this.long.has(nameOf(one))),
      ...this.classes.filter((one) => this.longClasses.has(nameOf(one))),
    ]);
    const texts = units.map((unit) => this.printUnit(unit));
    const origin = path.posix.join('src/api', sourceOf(this.name));
    return [
      `// Derived from ${origin}.ts by scripts/generate.ts (scripts/steps/derive-steps.ts).`,
      '',
      ...this.importLines(units, texts),
      '',
      ...texts.flatMap((text) => [text, '']),
    ].join('\n');
  }

  /** The statements with the private ones that they need, in the order of the source. */
  private withPrivateParts(units: readonly ts.Statement[]): readonly ts.Statement[] {
    const taken = new Set<ts.Statement>(units);
    const visit = (node: ts.Node): void => {
      if (ts.isIdentifier(node) && !isMemberName(node) && !this.exported.has(node.text)) {
        const statement = this.source.statements.find((one) => namesOf(one).includes(node.text));
        if (statement !== undefined && !taken.has(statement)) {
          if (hasState(statement)) this.refuse(node, 'has state and is not exported');
          taken.add(statement);
          visit(statement);
        }
      }
      ts.forEachChild(node, visit);
    };
    units.forEach(visit);
    return [...taken].sort((left, right) => left.pos - right.pos);
  }

  private printUnit(unit: ts.Statement): string {
    this.edits = [];
    this.skipped = [];
    if (isFunction(unit) && this.long.has(nameOf(unit))) this.editUnit(unit);
    else if (ts.isClassDeclaration(unit))
      for (const method of methodsOf(unit)) if (this.longMethods.has(nameOf(method))) this.editUnit(method);
    const start = unit.getFullStart();
    const text = this.source.text;
    let [result, position] = ['', start];
    // Of edits in one place the first that was made stands outside.
    const edits = this.edits.map((edit, index) => ({ ...edit, index }));
    edits.sort((left, right) => left.at - right.at || left.order - right.order || left.index - right.index);
    for (const { at, text: inserted } of edits) {
      result += text.slice(position, at) + inserted;
      position = this.skipped.find(({ from }) => from === at)?.to ?? at;
    }
    return (result + text.slice(position, unit.end)).trim();
  }

  private insert(at: number, text: string, order = 0): void {
    this.edits.push({ at, text, order });
  }

  private editUnit(unit: Func | Method): void {
    if (unit.type === undefined || unit.name === undefined) this.refuse(unit, 'has no return type');
    this.insert(unit.name.getStart(), '*');
    this.insert(unit.type.getStart(), 'Steps<');
    this.insert(unit.type.end, '>');
    this.visit(unit.body, false);
  }

  private visit(node: ts.Node, inClosure: boolean): void {
    if (this.isLongCall(node)) {
      if (inClosure) this.refuse(node, 'is called in a closure');
      this.insert(node.getStart(), '(yield* ', 1);
      this.insert(node.end, ')', -1);
    }
    if (isLoop(node) && !inClosure) this.pauseIn(node.statement);
    if (ts.isForInStatement(node)) this.listOnce(node);
    if (isListingOfKeys(node) && !CHANGING.has(this.name)) this.takeKnownKeys(node);
    const closure = inClosure || ts.isArrowFunction(node) || ts.isFunctionExpression(node);
    ts.forEachChild(node, (child) => this.visit(child, closure));
  }

  /** `for (const name in map)` lists the names of a large map each time; the loop over those that are known does not. */
  private listOnce({ initializer, expression }: ts.ForInStatement): void {
    this.insert(initializer.end, ` of ${CHANGING.has(this.name) ? 'namesIn' : 'keysOf'}(`, 2);
    this.insert(expression.end, ')', -1);
    this.skipped.push({ from: initializer.end, to: expression.getStart() });
  }

  /** The same for `Object.keys(map)`; what is not looped over may be changed by whoever gets it. */
  private takeKnownKeys({ parent, expression, end }: ts.CallExpression): void {
    const isLooped = ts.isForOfStatement(parent);
    this.insert(expression.getStart(), isLooped ? 'keysOf' : '[...keysOf', 2);
    this.skipped.push({ from: expression.getStart(), to: expression.end });
    if (!isLooped) this.insert(end, ']', -2);
  }

  private pauseIn(body: ts.Statement): void {
    if (ts.isBlock(body)) return this.insert(body.getStart() + 1, ' if (isPauseDue()) yield;');
    this.insert(body.getStart(), '{ if (isPauseDue()) yield; ');
    this.insert(body.end, ' }', 1);
  }

  /** All names of the derived text that are not its own, imported from where they are. */
  private importLines(units: readonly ts.Statement[], texts: readonly string[]): readonly string[] {
    const own = new Set(units.flatMap(namesOf));
    const declared = new Set(this.source.statements.flatMap(namesOf));
    const byModule = new Map<string, Map<string, boolean>>();
    const add = (from: string, name: string, type: boolean): void => {
      const names = byModule.get(from) ?? new Map<string, boolean>();
      byModule.set(from, names.set(name, type));
    };
    const visit = (node: ts.Node): void => {
      if (ts.isIdentifier(node) && !isMemberName(node)) {
        const name = node.text;
        const imported = this.imports.get(name);
        if (imported !== undefined) add(imported.from, name, imported.type);
        else if (declared.has(name) && !own.has(name)) add(this.file.replace(/\.ts$/, ''), name, this.isType(name));
      }
      ts.forEachChild(node, visit);
    };
    units.forEach(visit);
    const pace = path.join(this.folder, 'steps', 'pace');
    add(pace, 'Steps', true);
    if (texts.some((text) => text.includes('isPauseDue('))) add(pace, 'isPauseDue', false);
    if (!this.imports.has('keysOf') && texts.some((text) => text.includes('keysOf('))) add(pace, 'keysOf', false);
    if (texts.some((text) => text.includes('namesIn('))) add(pace, 'namesIn', false);
    return [...byModule].map(([from, names]) => {
      const list = [...names].map(([name, type]) => (type ? `type ${name}` : name)).join(', ');
      return `import { ${list} } from '${this.specifier(from)}';`;
    });
  }

  private isType(name: string): boolean {
    return this.source.statements.some(
      (one) => (ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one)) && nameOf(one) === name,
    );
  }

  private specifier(from: string): string {
    if (!path.isAbsolute(from)) return from;
    const relative = path.relative(path.dirname(this.outFile), from).split(path.sep).join('/');
    return relative.startsWith('.') ? relative : `./${relative}`;
  }

  private refuse(node: ts.Node, problem: string): never {
    const { line } = this.source.getLineAndCharacterOfPosition(node.getStart());
    throw new Error(`${this.file}:${line + 1}: ${node.getText().slice(0, 60)} ${problem}`);
  }
}

/** A variable that holds a new object, or a class. */
function hasState(statement: ts.Statement): boolean {
  let found: boolean = ts.isClassDeclaration(statement);
  const visit = (node: ts.Node): void => {
    if (ts.isNewExpression(node)) found = true;
    ts.forEachChild(node, visit);
  };
  if (ts.isVariableStatement(statement)) visit(statement);
  return found;
}

function isFunction(node: ts.Node): node is Func {
  return ts.isFunctionDeclaration(node) && node.body !== undefined;
}

function isLoop(node: ts.Node): node is ts.IterationStatement {
  return LOOPS.has(node.kind);
}

function isListingOfKeys(node: ts.Node): node is ts.CallExpression {
  return ts.isCallExpression(node) && node.expression.getText() === 'Object.keys';
}

function methodsOf(unit: ts.ClassDeclaration): readonly Method[] {
  return unit.members.filter((member): member is Method => ts.isMethodDeclaration(member) && member.body !== undefined);
}

function nameOf({ name }: { readonly name?: ts.Node | undefined }): string {
  return name !== undefined && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)) ? name.text : '';
}

function namesOf(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(nameOf);
  const name = nameOf(statement as ts.DeclarationStatement);
  return name === '' ? [] : [name];
}

function isExported(statement: ts.Statement): boolean {
  return (ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : []).some(
    ({ kind }) => kind === ts.SyntaxKind.ExportKeyword,
  );
}

/** A name after a dot or before a colon says nothing of what is imported. */
function isMemberName(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node;
  if (ts.isPropertyAssignment(parent)) return parent.name === node;
  if (ts.isBindingElement(parent)) return parent.propertyName === node;
  return ts.isMethodDeclaration(parent) || ts.isPropertySignature(parent) || ts.isPropertyDeclaration(parent);
}
