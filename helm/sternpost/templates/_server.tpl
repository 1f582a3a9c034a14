{{/* Modes are decimal: readers of YAML 1.2 take 0440 for 440. */}}
{{/* Files that the server reads: volumes of Secrets and ConfigMaps. Each: name, kind, source, items (all when there are none). */}}
{{- define "sternpost.files" -}}
{{- $v := .Values -}}
{{- $files := list
  (dict "name" "tls" "secret" (include "sternpost.secret.tls" .) "items" (dict $v.tls.certKey "tls.crt" $v.tls.keyKey "tls.key"))
  (dict "name" "client-ca" "secret" (include "sternpost.secret.clientCA" .) "items" (dict $v.tls.clientCA.key "ca.crt"))
-}}
{{- $keys := dict $v.tls.serviceAccountKey.key "sa.key" -}}
{{- range $index, $key := $v.tls.serviceAccountKey.verificationKeys -}}
{{- $_ := set $keys $key (printf "verify-%d.pem" $index) -}}
{{- end -}}
{{- $files = append $files (dict "name" "service-account-key" "secret" (include "sternpost.secret.serviceAccountKey" .) "items" $keys) -}}
{{- if $v.tls.frontProxy.enabled -}}
{{- $files = append $files (dict "name" "front-proxy-ca" "secret" (include "sternpost.secret.frontProxy" .) "items" (dict $v.tls.frontProxy.key "ca.crt")) -}}
{{- end -}}
{{- if or (include "sternpost.makesTokens" .) $v.authentication.tokenAuth.existingSecret -}}
{{- $files = append $files (dict "name" "tokens" "secret" (include "sternpost.secret.tokens" .) "items" (dict (include "sternpost.tokensKey" .) "tokens.csv")) -}}
{{- end -}}
{{- if eq $v.storage.type "etcd" -}}
{{- $tls := $v.etcd.tls -}}
{{- if $tls.existingSecret -}}
{{- $items := dict -}}
{{- if $tls.caKey }}{{- $_ := set $items $tls.caKey "ca.crt" -}}{{- end -}}
{{- if and $tls.certKey (not $v.etcd.auth.existingSecret) -}}
{{- $_ := set $items $tls.certKey "tls.crt" -}}
{{- $_ := set $items $tls.keyKey "tls.key" -}}
{{- end -}}
{{- $files = append $files (dict "name" "etcd-tls" "secret" $tls.existingSecret "items" $items) -}}
{{- end -}}
{{- if $v.etcd.auth.existingSecret -}}
{{- $files = append $files (dict "name" "etcd-auth" "secret" $v.etcd.auth.existingSecret "items" (dict $v.etcd.auth.certKey "tls.crt" $v.etcd.auth.keyKey "tls.key")) -}}
{{- end -}}
{{- end -}}
{{- with $v.authentication.webhook -}}
{{- if .existingSecret }}{{- $files = append $files (dict "name" "authentication-webhook" "secret" .existingSecret) -}}{{- end -}}
{{- end -}}
{{- with $v.authentication.oidc.ca -}}
{{- if .existingConfigMap }}{{- $files = append $files (dict "name" "oidc-ca" "configMap" .existingConfigMap "items" (dict .key "ca.crt")) -}}{{- end -}}
{{- end -}}
{{- with $v.authorization.webhook -}}
{{- if .existingSecret }}{{- $files = append $files (dict "name" "authorization-webhook" "secret" .existingSecret) -}}{{- end -}}
{{- end -}}
{{- with $v.authorization.abac -}}
{{- if .existingConfigMap }}{{- $files = append $files (dict "name" "abac" "configMap" .existingConfigMap "items" (dict .key "policy.jsonl")) -}}{{- end -}}
{{- end -}}
{{- if or $v.admission.existingConfigMap $v.admission.config -}}
{{- $files = append $files (dict "name" "admission" "configMap" (default (printf "%s-admission" (include "sternpost.fullname" .)) $v.admission.existingConfigMap)) -}}
{{- end -}}
{{- if or $v.audit.existingConfigMap $v.audit.policy -}}
{{- $files = append $files (dict "name" "audit-policy" "configMap" (default (printf "%s-audit-policy" (include "sternpost.fullname" .)) $v.audit.existingConfigMap)) -}}
{{- end -}}
{{- if $v.audit.webhook.existingSecret -}}
{{- $files = append $files (dict "name" "audit-webhook" "secret" $v.audit.webhook.existingSecret) -}}
{{- end -}}
{{- if or $v.tracing.existingConfigMap $v.tracing.config -}}
{{- $files = append $files (dict "name" "tracing" "configMap" (default (printf "%s-tracing" (include "sternpost.fullname" .)) $v.tracing.existingConfigMap)) -}}
{{- end -}}
{{- if $v.encryption.existingSecret -}}
{{- $files = append $files (dict "name" "encryption" "secret" $v.encryption.existingSecret) -}}
{{- end -}}
{{- dict "files" $files | toYaml -}}
{{- end -}}

{{- define "sternpost.fileVolumes" -}}
{{- range (include "sternpost.files" . | fromYaml).files }}
- name: {{ .name }}
  {{- if .secret }}
  secret:
    secretName: {{ .secret }}
    defaultMode: 288
  {{- else }}
  configMap:
    name: {{ .configMap }}
  {{- end }}
  {{- with .items }}
    items:
      {{- range $key, $path := . }}
      - key: {{ $key }}
        path: {{ $path }}
      {{- end }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "sternpost.fileMounts" -}}
{{- range (include "sternpost.files" . | fromYaml).files }}
- name: {{ .name }}
  mountPath: /etc/sternpost/{{ .name }}
  readOnly: true
{{- end }}
{{- end -}}

{{/* The arguments of the server, as a list. */}}
{{- define "sternpost.serverArgs" -}}
{{- $v := .Values -}}
{{- $files := "/etc/sternpost" -}}
{{- $args := list "apiserver" -}}
{{- if eq $v.storage.type "etcd" -}}
{{- $args = append $args "--data-dir=/tmp/sternpost" -}}
{{- $args = append $args (printf "--etcd-servers=%s" (join "," $v.etcd.endpoints)) -}}
{{- $args = append $args (printf "--etcd-prefix=%s" $v.etcd.prefix) -}}
{{- if and $v.etcd.tls.existingSecret $v.etcd.tls.caKey }}{{- $args = append $args (printf "--etcd-cafile=%s/etcd-tls/ca.crt" $files) -}}{{- end -}}
{{- $client := ternary "etcd-auth" (ternary "etcd-tls" "" (and (ne $v.etcd.tls.existingSecret "") (ne $v.etcd.tls.certKey ""))) (ne $v.etcd.auth.existingSecret "") -}}
{{- if $client -}}
{{- $args = concat $args (list (printf "--etcd-certfile=%s/%s/tls.crt" $files $client) (printf "--etcd-keyfile=%s/%s/tls.key" $files $client)) -}}
{{- end -}}
{{- else -}}
{{- $args = append $args "--data-dir=/var/lib/sternpost/data" -}}
{{- $args = append $args (printf "--quota-backend-bytes=%d" (int64 $v.storage.embedded.quotaBytes)) -}}
{{- end -}}
{{- $args = append $args (printf "--etcd-compaction-interval=%s" $v.storage.compactionInterval) -}}
{{- $args = append $args (printf "--event-ttl=%s" $v.server.eventTTL) -}}
{{- $args = concat $args (list
  (printf "--secure-port=%d" (int $v.server.port))
  "--advertise-address=$(POD_IP)"
  (printf "--healthz-bind-address=:%d" (int $v.health.port))
  (printf "--tls-cert-file=%s/tls/tls.crt" $files)
  (printf "--tls-private-key-file=%s/tls/tls.key" $files)
  (printf "--tls-min-version=%s" $v.tls.minVersion)
  (printf "--client-ca-file=%s/client-ca/ca.crt" $files)
  (printf "--service-account-issuer=%s" $v.authentication.serviceAccounts.issuer)
  (printf "--service-account-signing-key-file=%s/service-account-key/sa.key" $files)
  (printf "--service-account-key-file=%s/service-account-key/sa.key" $files)
  (printf "--anonymous-auth=%t" $v.authentication.anonymous)
  (printf "--authorization-mode=%s" (join "," $v.authorization.modes))
  (printf "--service-cluster-ip-range=%s" (join "," $v.server.serviceClusterIPRanges))
  (printf "--service-node-port-range=%s" $v.server.serviceNodePortRange)
  (printf "--request-timeout=%ds" (int $v.server.requestTimeoutSeconds))
  (printf "--max-requests-inflight=%d" (int $v.server.maxRequestsInflight))
  (printf "--max-mutating-requests-inflight=%d" (int $v.server.maxMutatingRequestsInflight))
  (printf "--enable-priority-and-fairness=%t" $v.server.priorityAndFairness)
  (printf "--shutdown-delay-duration=%ds" (int $v.shutdown.delaySeconds))
  (printf "--logging-format=%s" $v.server.loggingFormat)
  (printf "--v=%d" (int $v.server.verbosity))
) -}}
{{- range $index, $key := $v.tls.serviceAccountKey.verificationKeys -}}
{{- $args = append $args (printf "--service-account-key-file=%s/service-account-key/verify-%d.pem" $files $index) -}}
{{- end -}}
{{- with $v.tls.cipherSuites }}{{- $args = append $args (printf "--tls-cipher-suites=%s" (join "," .)) -}}{{- end -}}
{{- with $v.authentication.serviceAccounts.jwksURI }}{{- $args = append $args (printf "--service-account-jwks-uri=%s" .) -}}{{- end -}}
{{- with $v.authentication.serviceAccounts.maxTokenExpiration }}{{- $args = append $args (printf "--service-account-max-token-expiration=%s" .) -}}{{- end -}}
{{- with $v.authentication.apiAudiences }}{{- $args = append $args (printf "--api-audiences=%s" (join "," .)) -}}{{- end -}}
{{- if gt (int $v.server.workers) 1 }}{{- $args = append $args (printf "--workers=%d" (int $v.server.workers)) -}}{{- end -}}
{{- with $v.server.emulatedVersion }}{{- $args = append $args (printf "--emulated-version=%s" .) -}}{{- end -}}
{{- if gt (float64 $v.server.goawayChance) 0.0 }}{{- $args = append $args (printf "--goaway-chance=%v" $v.server.goawayChance) -}}{{- end -}}
{{- $gates := list -}}
{{- range $name, $on := $v.server.featureGates }}{{- $gates = append $gates (printf "%s=%t" $name $on) -}}{{- end -}}
{{- with $gates }}{{- $args = append $args (printf "--feature-gates=%s" (join "," .)) -}}{{- end -}}
{{- $served := list -}}
{{- range $name, $on := $v.server.runtimeConfig }}{{- $served = append $served (printf "%s=%v" $name $on) -}}{{- end -}}
{{- with $served }}{{- $args = append $args (printf "--runtime-config=%s" (join "," .)) -}}{{- end -}}
{{- with $v.tls.frontProxy -}}
{{- if .enabled -}}
{{- $args = concat $args (list
  (printf "--requestheader-client-ca-file=%s/front-proxy-ca/ca.crt" $files)
  (printf "--requestheader-username-headers=%s" (join "," .usernameHeaders))
  (printf "--requestheader-group-headers=%s" (join "," .groupHeaders))
  (printf "--requestheader-extra-headers-prefix=%s" (join "," .extraHeadersPrefixes))
) -}}
{{- with .allowedNames }}{{- $args = append $args (printf "--requestheader-allowed-names=%s" (join "," .)) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if or (include "sternpost.makesTokens" .) $v.authentication.tokenAuth.existingSecret -}}
{{- $args = append $args (printf "--token-auth-file=%s/tokens/tokens.csv" $files) -}}
{{- end -}}
{{- if $v.authentication.bootstrapTokens }}{{- $args = append $args "--enable-bootstrap-token-auth" -}}{{- end -}}
{{- with $v.authentication.oidc -}}
{{- if .issuerURL -}}
{{- $args = concat $args (list (printf "--oidc-issuer-url=%s" .issuerURL) (printf "--oidc-client-id=%s" .clientID) (printf "--oidc-username-claim=%s" .usernameClaim) (printf "--oidc-signing-algs=%s" (join "," .signingAlgs))) -}}
{{- with .usernamePrefix }}{{- $args = append $args (printf "--oidc-username-prefix=%s" .) -}}{{- end -}}
{{- with .groupsClaim }}{{- $args = append $args (printf "--oidc-groups-claim=%s" .) -}}{{- end -}}
{{- with .groupsPrefix }}{{- $args = append $args (printf "--oidc-groups-prefix=%s" .) -}}{{- end -}}
{{- range $claim, $value := .requiredClaims }}{{- $args = append $args (printf "--oidc-required-claim=%s=%s" $claim $value) -}}{{- end -}}
{{- if .ca.existingConfigMap }}{{- $args = append $args (printf "--oidc-ca-file=%s/oidc-ca/ca.crt" $files) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- with $v.authentication.webhook -}}
{{- if .existingSecret -}}
{{- $args = concat $args (list (printf "--authentication-token-webhook-config-file=%s/authentication-webhook/%s" $files .key) (printf "--authentication-token-webhook-version=%s" .version) (printf "--authentication-token-webhook-cache-ttl=%s" .cacheTTL)) -}}
{{- end -}}
{{- end -}}
{{- if $v.authorization.abac.existingConfigMap }}{{- $args = append $args (printf "--authorization-policy-file=%s/abac/policy.jsonl" $files) -}}{{- end -}}
{{- with $v.authorization.webhook -}}
{{- if .existingSecret -}}
{{- $args = concat $args (list (printf "--authorization-webhook-config-file=%s/authorization-webhook/%s" $files .key) (printf "--authorization-webhook-version=%s" .version) (printf "--authorization-webhook-cache-authorized-ttl=%s" .authorizedTTL) (printf "--authorization-webhook-cache-unauthorized-ttl=%s" .unauthorizedTTL)) -}}
{{- end -}}
{{- end -}}
{{- with $v.admission.enablePlugins }}{{- $args = append $args (printf "--enable-admission-plugins=%s" (join "," .)) -}}{{- end -}}
{{- with $v.admission.disablePlugins }}{{- $args = append $args (printf "--disable-admission-plugins=%s" (join "," .)) -}}{{- end -}}
{{- if or $v.admission.existingConfigMap $v.admission.config -}}
{{- $args = append $args (printf "--admission-control-config-file=%s/admission/%s" $files $v.admission.key) -}}
{{- end -}}
{{- if or $v.audit.existingConfigMap $v.audit.policy -}}
{{- $args = append $args (printf "--audit-policy-file=%s/audit-policy/%s" $files $v.audit.key) -}}
{{- with $v.audit.log -}}
{{- if .path -}}
{{- $args = append $args (printf "--audit-log-path=%s" .path) -}}
{{- if ne .path "-" -}}
{{- $args = concat $args (list (printf "--audit-log-maxage=%d" (int .maxAge)) (printf "--audit-log-maxbackup=%d" (int .maxBackups)) (printf "--audit-log-maxsize=%d" (int .maxSize))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with $v.audit.webhook -}}
{{- if .existingSecret }}{{- $args = append $args (printf "--audit-webhook-config-file=%s/audit-webhook/%s" $files .key) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if or $v.tracing.existingConfigMap $v.tracing.config }}{{- $args = append $args (printf "--tracing-config-file=%s/tracing/%s" $files $v.tracing.key) -}}{{- end -}}
{{- if $v.encryption.existingSecret }}{{- $args = concat $args (list (printf "--encryption-provider-config=%s/encryption/%s" $files $v.encryption.key) "--encryption-provider-config-automatic-reload") -}}{{- end -}}
{{- toYaml (concat $args $v.extraArgs) -}}
{{- end -}}
