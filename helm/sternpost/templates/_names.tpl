{{- define "sternpost.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Room is left for what follows it in names. */}}
{{- define "sternpost.fullname" -}}
{{- $name := include "sternpost.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 42 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 42 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 42 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "sternpost.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- define "sternpost.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "sternpost.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* What a Deployment selects by: never changes. Takes a list of the context and the component. */}}
{{- define "sternpost.selectorLabels" -}}
{{- $context := index . 0 -}}
app.kubernetes.io/name: {{ include "sternpost.name" $context }}
app.kubernetes.io/instance: {{ $context.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "sternpost.labels" -}}
{{- $context := index . 0 -}}
{{ include "sternpost.selectorLabels" . }}
app.kubernetes.io/part-of: {{ include "sternpost.name" $context }}
app.kubernetes.io/version: {{ $context.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $context.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $context.Chart.Name $context.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with $context.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Of pods: nothing that changes with the chart's version, or every upgrade would replace them. */}}
{{- define "sternpost.podLabels" -}}
{{- $context := index . 0 -}}
{{ include "sternpost.selectorLabels" (list $context (index . 1)) }}
app.kubernetes.io/part-of: {{ include "sternpost.name" $context }}
{{- with merge (dict) (index . 2) $context.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/*
The metadata of an object. Takes a dictionary: context, component, and of suffix, name, namespace, labels, annotations what there is.
*/}}
{{- define "sternpost.metadata" -}}
{{- $context := .context -}}
{{- $suffix := default "" .suffix -}}
name: {{ default (printf "%s%s" (include "sternpost.fullname" $context) $suffix) .name }}
namespace: {{ default (include "sternpost.namespace" $context) .namespace }}
labels:
  {{- include "sternpost.labels" (list $context .component) | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) (default (dict) .annotations) $context.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "sternpost.image" -}}
{{- $repository := .Values.image.repository -}}
{{- if .Values.image.registry -}}
{{- $repository = printf "%s/%s" (trimSuffix "/" .Values.image.registry) $repository -}}
{{- end -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* Where clients in the host cluster find the server. */}}
{{- define "sternpost.serviceHost" -}}
{{- printf "%s.%s.svc" (include "sternpost.fullname" .) (include "sternpost.namespace" .) -}}
{{- end -}}

{{- define "sternpost.url" -}}
{{- printf "https://%s:%v" (include "sternpost.serviceHost" .) .Values.service.port -}}
{{- end -}}

{{/* Secrets: given ones, else those of this release. */}}
{{- define "sternpost.secret.tls" -}}
{{- default (printf "%s-tls" (include "sternpost.fullname" .)) .Values.tls.existingSecret -}}
{{- end -}}
{{- define "sternpost.secret.clientCA" -}}
{{- default (printf "%s-client-ca" (include "sternpost.fullname" .)) .Values.tls.clientCA.existingSecret -}}
{{- end -}}
{{- define "sternpost.secret.frontProxy" -}}
{{- default (printf "%s-front-proxy-ca" (include "sternpost.fullname" .)) .Values.tls.frontProxy.existingSecret -}}
{{- end -}}
{{- define "sternpost.secret.serviceAccountKey" -}}
{{- default (printf "%s-service-account-key" (include "sternpost.fullname" .)) .Values.tls.serviceAccountKey.existingSecret -}}
{{- end -}}
{{- define "sternpost.secret.tokens" -}}
{{- default (printf "%s-tokens" (include "sternpost.fullname" .)) .Values.authentication.tokenAuth.existingSecret -}}
{{- end -}}
{{- define "sternpost.secret.admin" -}}
{{- printf "%s-admin-kubeconfig" (include "sternpost.fullname" .) -}}
{{- end -}}
{{- define "sternpost.secret.controllers" -}}
{{- default (printf "%s-controllers-kubeconfig" (include "sternpost.fullname" .)) .Values.controllers.kubeconfig.existingSecret -}}
{{- end -}}

{{/* "true" when this release makes tokens for its own users. */}}
{{- define "sternpost.makesTokens" -}}
{{- $controllers := and .Values.controllers.enabled (not .Values.controllers.kubeconfig.existingSecret) -}}
{{- if and (eq .Values.tls.mode "helm") (or .Values.adminKubeconfig.enabled $controllers) -}}true{{- end -}}
{{- end -}}

{{/* The key of the token file, in whichever Secret. */}}
{{- define "sternpost.tokensKey" -}}
{{- ternary .Values.authentication.tokenAuth.key "tokens.csv" (ne .Values.authentication.tokenAuth.existingSecret "") -}}
{{- end -}}
