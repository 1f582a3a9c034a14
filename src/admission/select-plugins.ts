import { PLUGINS, type PluginInfo, type PluginName } from './plugin-table';

/** What the flags say about plugins. */
export interface PluginFlags {
  readonly enable: readonly string[];
  readonly disable: readonly string[];
}

/** Which plugins are on, in order, with everything that is wrong with the flags or should be told. */
export interface PluginSelection {
  readonly names: readonly PluginName[];
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** A plugin that is both enabled and disabled is an error, as it is with kube-apiserver. */
export function selectPlugins({ enable, disable }: PluginFlags): PluginSelection {
  const plugins: readonly PluginInfo[] = PLUGINS;
  const known = new Set(plugins.map(({ name }) => name));
  const unknown = (flag: string, names: readonly string[]): readonly string[] =>
    names.filter((name) => !known.has(name)).map((name) => `${flag} plugin ${JSON.stringify(name)} is unknown`);
  const both = enable.filter((name) => disable.includes(name));
  const chosen = plugins.filter(({ name }) => enable.includes(name));
  return {
    names: PLUGINS.filter(({ name, on }) => enable.includes(name) || (on && !disable.includes(name))).map(
      ({ name }) => name,
    ),
    problems: [
      ...unknown('enable-admission-plugins', enable),
      ...unknown('disable-admission-plugins', disable),
      ...both.map((name) => `admission plugin ${name} cannot be both enabled and disabled`),
      ...chosen.flatMap(({ name, unsupported }) =>
        unsupported === undefined ? [] : [`admission plugin ${name} is not supported: ${unsupported}`],
      ),
    ],
    warnings: chosen.flatMap(({ name, deprecated }) =>
      deprecated === undefined ? [] : [`admission plugin ${name} is ${deprecated}`],
    ),
  };
}
