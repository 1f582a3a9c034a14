/** What the doctor has found out about one thing. */
export interface Finding {
  readonly level: 'ok' | 'warn' | 'fail';
  /** `etcd https://10.0.0.1:2379`, `certificate /etc/...`. */
  readonly subject: string;
  readonly text: string;
  /** What to do about it. */
  readonly advice?: string;
}

export function ok(subject: string, text: string): Finding {
  return { level: 'ok', subject, text };
}

export function warn(subject: string, text: string, advice: string): Finding {
  return { level: 'warn', subject, text, advice };
}

export function fail(subject: string, text: string, advice: string): Finding {
  return { level: 'fail', subject, text, advice };
}

/** A line for each, with what to do below it. */
export function printFindings(findings: readonly Finding[]): string {
  return findings
    .map(({ level, subject, text, advice }) => {
      const line = `${level.padEnd(4)}  ${subject}: ${text}\n`;
      return advice === undefined ? line : `${line}      -> ${advice}\n`;
    })
    .join('');
}
