import { forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import type { CustomResourceConversion } from '../schema/generated/apiextensions-v1';
import { invalidLiteral, stringListLiteral } from './go-literal';
import { dns1035LabelProblems } from './names';
import { validateWebhookClient } from './webhook-client';
import { checkEach } from './check-each';
import { repetitionsInOrder } from './repetitions';

const STRATEGIES = ['None', 'Webhook'];
const REVIEW_VERSIONS = ['v1', 'v1beta1'];

function validateReviewVersions(versions: readonly string[], path: string): readonly FieldError[] {
  if (versions.length === 0) return [required(path, '')];
  const isKnown = versions.some((version) => REVIEW_VERSIONS.includes(version));
  const detail = `must include at least one of ${REVIEW_VERSIONS.join(', ')}`;
  const isRepeated = repetitionsInOrder();
  return [
    ...checkEach(versions, (version, index) =>
      isRepeated(version)
        ? [invalid(`${path}[${index}]`, version, 'duplicate version')]
        : dns1035LabelProblems(version).map((problem) => invalid(`${path}[${index}]`, version, problem)),
    ),
    ...(isKnown ? [] : [invalidLiteral(path, stringListLiteral('[]string', versions), detail)]),
  ];
}

/** How objects are brought from version to version. Messages name the fields as v1beta1 has them. */
export function validateConversion(conversion: CustomResourceConversion, path: string): readonly FieldError[] {
  const { strategy = '', webhook } = conversion;
  const client = webhook?.clientConfig;
  const versions = webhook?.conversionReviewVersions ?? [];
  const unknown =
    strategy === ''
      ? [required(`${path}.strategy`, '')]
      : STRATEGIES.includes(strategy)
        ? []
        : [notSupported(`${path}.strategy`, strategy, STRATEGIES)];
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook';
    return [
      ...unknown,
      ...(client ? [forbiddenField(`${path}.webhookClientConfig`, detail)] : []),
      ...(versions.length > 0 ? [forbiddenField(`${path}.conversionReviewVersions`, detail)] : []),
    ];
  }
  return [
    ...(client
      ? validateWebhookClient(client, `${path}.webhookClientConfig`)
      : [required(`${path}.webhookClientConfig`, 'required when strategy is set to Webhook')]),
    ...validateReviewVersions(versions, `${path}.conversionReviewVersions`),
  ];
}
