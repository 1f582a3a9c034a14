{{/* A quantity of memory in MiB, rounded down. */}}
{{- define "sternpost.mebibytes" -}}
{{- $text := ternary (toString .) (printf "%d" (int64 .)) (kindIs "string" .) -}}
{{- $number := regexFind "^[0-9]+(\\.[0-9]+)?" $text | float64 -}}
{{- $suffix := regexReplaceAll "^[0-9.]+(e[0-9]+)?" $text "" -}}
{{- $mebi := 1048576.0 -}}
{{- $factors := dict "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" $mebi "Gi" 1073741824.0 "Ti" 1099511627776.0 -}}
{{- if not (hasKey $factors $suffix) -}}
{{- fail (printf "resources.limits.memory: %q is no quantity of memory" $text) -}}
{{- end -}}
{{- divf (mulf $number (get $factors $suffix)) $mebi | floor | int64 -}}
{{- end -}}

{{/* `--max-old-space-size`, in MiB: empty where there is no limit. Takes the context, resources and the processes that share them. */}}
{{- define "sternpost.heapMebibytes" -}}
{{- $context := index . 0 -}}
{{- $limits := default (dict) (index . 1).limits -}}
{{- $processes := index . 2 -}}
{{- with $limits.memory -}}
{{- $mebibytes := include "sternpost.mebibytes" . | int64 -}}
{{- div (mul $mebibytes $context.Values.heap.percentOfLimit) (mul 100 $processes) -}}
{{- end -}}
{{- end -}}

{{/* The end of the pod comes after the delay and all that may be under way. */}}
{{- define "sternpost.gracePeriod" -}}
{{- if kindIs "invalid" .Values.shutdown.terminationGracePeriodSeconds -}}
{{- add .Values.shutdown.delaySeconds .Values.server.requestTimeoutSeconds 10 -}}
{{- else -}}
{{- .Values.shutdown.terminationGracePeriodSeconds | int -}}
{{- end -}}
{{- end -}}

{{/* "true" when there can be several replicas. */}}
{{- define "sternpost.isReplicated" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicaCount) 1) -}}true{{- end -}}
{{- end -}}
