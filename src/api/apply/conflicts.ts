import { quoteGo } from '../errors/go-quote';
import { StatusError, type StatusCause } from '../errors/status-error';
import { isEmpty, type FieldSet } from './field-set';
import { writerId, type Manager } from './managed-fields';
import type { OwnershipConflict } from './ownership';
import { printElement, type PathElement } from './path-element';
import { difference, sizeOf } from './set-algebra';
import { visitPaths, type PathVisitor } from './set-paths';

/** What the paths of conflicts may be long together, in characters: they may have long beginnings in common. */
const MAX_CONFLICTS_LENGTH = 1024 * 1024;

/** Prints paths as long as they are not too many, at least one. */
export class ConflictPrinter implements PathVisitor<string> {
  private readonly texts: string[] = [];
  private length = 0;

  readonly extend = (path: string, element: PathElement): string => path + printElement(element);

  readonly take = (path: string): boolean => {
    this.length += path.length;
    if (this.length > MAX_CONFLICTS_LENGTH && this.texts.length > 0) return false;
    return this.texts.push(path) > 0;
  };

  /** How many there are. */
  get printed(): number {
    return this.texts.length;
  }

  /** Those since the first so many. */
  from(index: number): readonly string[] {
    return this.texts.slice(index);
  }
}

interface RefusedManager {
  readonly manager: Manager;
  readonly managerId: string;
  readonly set: FieldSet;
}

interface PrintedConflict {
  readonly manager: Manager;
  readonly paths: readonly string[];
}

/** Throws 409 for conflicts outside of what is allowed, listed by manager and path. */
export function refuseConflicts(conflicts: readonly OwnershipConflict[], allowed: FieldSet | undefined): void {
  const refused: RefusedManager[] = [];
  for (const { manager, fields } of conflicts) {
    const set = allowed === undefined ? fields : difference(fields, allowed);
    if (!isEmpty(set)) refused.push({ manager, managerId: writerId(manager), set });
  }
  refused.sort((left, right) => (left.managerId < right.managerId ? -1 : 1));
  const printer = new ConflictPrinter();
  const printed: PrintedConflict[] = [];
  let count = 0;
  for (const { manager, set } of refused) {
    const before = printer.printed;
    visitPaths(set, '', printer);
    count += sizeOf(set);
    printed.push({ manager, paths: printer.from(before) });
  }
  if (count > 0) throw conflictError(printed, count);
}

function conflictError(refused: readonly PrintedConflict[], count: number): StatusError {
  const causes: StatusCause[] = [];
  let list = '';
  for (const { manager, paths } of refused) {
    const owner = printManager(manager);
    list += `\nconflicts with ${owner}:`;
    for (const path of paths) {
      causes.push({ reason: 'FieldManagerConflict', message: `conflict with ${owner}`, field: path });
      list += `\n- ${path}`;
    }
  }
  const [first] = causes;
  const message =
    count === 1 && first !== undefined
      ? `Apply failed with 1 conflict: ${first.message}: ${first.field}`
      : `Apply failed with ${count} conflicts: ${list.slice(1)}`;
  return new StatusError(409, 'Conflict', message, { causes });
}

function printManager({ name, operation, apiVersion, subresource }: Manager): string {
  const subject = quoteGo(name) + (subresource === undefined ? '' : ` with subresource ${quoteGo(subresource)}`);
  return operation === 'Update' ? `${subject} using ${apiVersion}` : subject;
}
