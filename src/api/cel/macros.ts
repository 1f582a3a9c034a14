import { ACCUMULATOR, type CallExpr, type ComprehensionExpr, type Expr, type IdentExpr } from './ast';

type Report = (position: number, message: string) => void;
type Macro = (call: CallExpr, range: Expr, report: Report) => Expr | undefined;

/**
 * What stands for a call of a macro, or undefined when it is none. Comprehensions are those of cel-go, of whose form costs
 * are reckoned.
 */
export function expandMacro(call: CallExpr, report: Report): Expr | undefined {
  const { name, target, args } = call;
  if (target === undefined) return name === 'has' && args.length === 1 ? expandHas(call, report) : undefined;
  if (target.kind === 'ident' && target.name === 'cel' && name === 'bind' && args.length === 3) {
    return expandBind(call, report);
  }
  const macro = MACROS.get(`${name}/${args.length}`);
  return macro?.(call, target, report);
}

/** By name and number of arguments. */
const MACROS: ReadonlyMap<string, Macro> = new Map<string, Macro>([
  ['all/2', (call, range, report) => quantifier(call, range, report, 'all')],
  ['all/3', (call, range, report) => quantifier(call, range, report, 'all')],
  ['exists/2', (call, range, report) => quantifier(call, range, report, 'exists')],
  ['exists/3', (call, range, report) => quantifier(call, range, report, 'exists')],
  ['exists_one/2', existsOne],
  ['exists_one/3', existsOne],
  ['existsOne/2', existsOne],
  ['existsOne/3', existsOne],
  ['map/2', mapMacro],
  ['map/3', mapMacro],
  ['filter/2', filterMacro],
  ['transformList/3', transformList],
  ['transformList/4', transformList],
  ['transformMap/3', (call, range, report) => transformMap(call, range, report, 'cel.@mapInsert')],
  ['transformMap/4', (call, range, report) => transformMap(call, range, report, 'cel.@mapInsert')],
  ['transformMapEntry/3', (call, range, report) => transformMap(call, range, report, 'cel.@mapInsert')],
  ['transformMapEntry/4', (call, range, report) => transformMap(call, range, report, 'cel.@mapInsert')],
  ['optMap/2', (call, range, report) => optionalMacro(call, range, report, true)],
  ['optFlatMap/2', (call, range, report) => optionalMacro(call, range, report, false)],
]);

function expandHas({ args, position }: CallExpr, report: Report): Expr | undefined {
  const [argument] = args;
  if (argument?.kind === 'select' && !argument.testOnly) return { ...argument, testOnly: true };
  report(argument?.position ?? position, 'invalid argument to has() macro');
  return undefined;
}

function expandBind({ args, position }: CallExpr, report: Report): Expr | undefined {
  const [variable, value, body] = args as [Expr, Expr, Expr];
  if (variable.kind !== 'ident') {
    report(variable.position, 'cel.bind() variable names must be simple identifiers');
    return undefined;
  }
  return binding(position, variable.name, value, body);
}

/** The names of the one or two variables of a macro; undefined after a report. */
function variablesOf({ args }: CallExpr, count: number, report: Report): readonly string[] | undefined {
  const names: string[] = [];
  for (const arg of args.slice(0, count)) {
    if (arg.kind !== 'ident' || arg.name.startsWith('.')) {
      report(arg.position, 'argument must be a simple name');
      return undefined;
    }
    if (arg.name === ACCUMULATOR || arg.name === '__result__') {
      report(arg.position, 'iteration variable overwrites accumulator variable');
      return undefined;
    }
    if (names.includes(arg.name)) {
      report(arg.position, `duplicate variable name: ${arg.name}`);
      return undefined;
    }
    names.push(arg.name);
  }
  return names;
}

function accumulatorAt(position: number): IdentExpr {
  return { kind: 'ident', position, name: ACCUMULATOR };
}

function constant(position: number, value: boolean | bigint): Expr {
  return { kind: 'const', position, value };
}

function callOf(position: number, name: string, ...args: readonly Expr[]): CallExpr {
  return { kind: 'call', position, name, args };
}

function fold(
  position: number,
  range: Expr,
  names: readonly string[],
  parts: Pick<ComprehensionExpr, 'initial' | 'step'> & Partial<Pick<ComprehensionExpr, 'condition' | 'result'>>,
): ComprehensionExpr {
  const [variable = '', variable2] = names;
  return {
    kind: 'comprehension',
    position,
    range,
    variable,
    ...(variable2 === undefined ? {} : { variable2 }),
    accumulator: ACCUMULATOR,
    condition: constant(position, true),
    result: accumulatorAt(position),
    ...parts,
  };
}

function quantifier(call: CallExpr, range: Expr, report: Report, which: 'all' | 'exists'): Expr | undefined {
  const { position, args } = call;
  const names = variablesOf(call, args.length - 1, report);
  if (names === undefined) return undefined;
  const accu = accumulatorAt(position);
  const predicate = args[args.length - 1] as Expr;
  const goesOn = which === 'all' ? accu : callOf(position, '!_', accu);
  return fold(position, range, names, {
    initial: constant(position, which === 'all'),
    condition: callOf(position, '@not_strictly_false', goesOn),
    step: callOf(position, which === 'all' ? '_&&_' : '_||_', accu, predicate),
  });
}

function existsOne(call: CallExpr, range: Expr, report: Report): Expr | undefined {
  const { position, args } = call;
  const names = variablesOf(call, args.length - 1, report);
  if (names === undefined) return undefined;
  const accu = accumulatorAt(position);
  const one = constant(position, 1n);
  return fold(position, range, names, {
    initial: constant(position, 0n),
    step: callOf(position, '_?_:_', args[args.length - 1] as Expr, callOf(position, '_+_', accu, one), accu),
    result: callOf(position, '_==_', accu, one),
  });
}

function emptyList(position: number): Expr {
  return { kind: 'list', position, elements: [], optional: new Set() };
}

/** `accu + [element]`, under a condition where there is one. */
function appending(position: number, element: Expr, condition: Expr | undefined): Expr {
  const accu = accumulatorAt(position);
  const list: Expr = { kind: 'list', position, elements: [element], optional: new Set() };
  const appended = callOf(position, '_+_', accu, list);
  return condition === undefined ? appended : callOf(position, '_?_:_', condition, appended, accu);
}

function mapMacro(call: CallExpr, range: Expr, report: Report): Expr | undefined {
  const { position, args } = call;
  const names = variablesOf(call, 1, report);
  if (names === undefined) return undefined;
  const transform = args[args.length - 1] as Expr;
  const condition = args.length === 3 ? args[1] : undefined;
  return fold(position, range, names, {
    initial: emptyList(position),
    step: appending(position, transform, condition),
  });
}

function filterMacro(call: CallExpr, range: Expr, report: Report): Expr | undefined {
  const { position, args } = call;
  const names = variablesOf(call, 1, report);
  if (names === undefined) return undefined;
  return fold(position, range, names, {
    initial: emptyList(position),
    step: appending(position, args[0] as Expr, args[1]),
  });
}

function transformList(call: CallExpr, range: Expr, report: Report): Expr | undefined {
  const { position, args } = call;
  const names = variablesOf(call, 2, report);
  if (names === undefined) return undefined;
  const condition = args.length === 4 ? args[2] : undefined;
  const transform = args[args.length - 1] as Expr;
  return fold(position, range, names, {
    initial: emptyList(position),
    step: appending(position, transform, condition),
  });
}

function transformMap(call: CallExpr, range: Expr, report: Report, insert: string): Expr | undefined {
  const { position, args, name } = call;
  const names = variablesOf(call, 2, report);
  if (names === undefined) return undefined;
  const accu = accumulatorAt(position);
  const transform = args[args.length - 1] as Expr;
  const key: Expr = { kind: 'ident', position, name: names[0] ?? '' };
  const inserted =
    name === 'transformMapEntry'
      ? callOf(position, insert, accu, transform)
      : callOf(position, insert, accu, key, transform);
  const condition = args.length === 4 ? args[2] : undefined;
  return fold(position, range, names, {
    initial: { kind: 'map', position, entries: [] },
    step: condition === undefined ? inserted : callOf(position, '_?_:_', condition, inserted, accu),
  });
}

/** `target.optMap(x, f)`. The target is bound to a name, so that it is evaluated once, however many follow one another. */
function optionalMacro(call: CallExpr, target: Expr, report: Report, wraps: boolean): Expr | undefined {
  const { position, args } = call;
  const [variable, body] = args as [Expr, Expr];
  if (variable.kind !== 'ident') {
    report(variable.position, `${call.name}() variable name must be a simple identifier`);
    return undefined;
  }
  const bound: IdentExpr = { kind: 'ident', position, name: TARGET };
  const member = (name: string): CallExpr => ({ kind: 'call', position, name, target: bound, args: [] });
  const mapped = binding(position, variable.name, member('value'), body);
  const some = wraps ? callOf(position, 'optional.of', mapped) : mapped;
  const choice = callOf(position, '_?_:_', member('hasValue'), some, callOf(position, 'optional.none'));
  return binding(position, TARGET, target, choice);
}

const TARGET = '@target';

function binding(position: number, name: string, value: Expr, body: Expr): ComprehensionExpr {
  return {
    kind: 'comprehension',
    position,
    range: emptyList(position),
    variable: '#unused',
    accumulator: name,
    initial: value,
    condition: constant(position, false),
    step: { kind: 'ident', position, name },
    result: body,
  };
}
