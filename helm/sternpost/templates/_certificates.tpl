{{/* What the server is called in its certificate. */}}
{{- define "sternpost.dnsNames" -}}
{{- $host := include "sternpost.fullname" . -}}
{{- $namespace := include "sternpost.namespace" . -}}
{{- $own := list $host (printf "%s.%s" $host $namespace) (include "sternpost.serviceHost" .) (printf "%s.%s.svc.cluster.local" $host $namespace) -}}
{{- $kubernetes := list "kubernetes" "kubernetes.default" "kubernetes.default.svc" "kubernetes.default.svc.cluster.local" "localhost" -}}
{{- dict "names" (concat $own $kubernetes .Values.tls.dnsNames .Values.ingress.hosts .Values.tlsRoute.hostnames | uniq) | toYaml -}}
{{- end -}}

{{/* The first address of the Services' network is that of the Service "kubernetes". */}}
{{- define "sternpost.ipAddresses" -}}
{{- $firsts := list -}}
{{- range .Values.server.serviceClusterIPRanges -}}
{{- $address := first (splitList "/" .) -}}
{{- if regexMatch "^[0-9.]+$" $address -}}
{{- $octets := splitList "." $address -}}
{{- if eq (len $octets) 4 -}}
{{- $firsts = append $firsts (printf "%s.%d" (join "." (initial $octets)) (add1 (int (last $octets)))) -}}
{{- end -}}
{{- else if hasSuffix "::" $address -}}
{{- $firsts = append $firsts (printf "%s1" $address) -}}
{{- end -}}
{{- end -}}
{{- dict "addresses" (concat (list "127.0.0.1") $firsts .Values.tls.ipAddresses | uniq) | toYaml -}}
{{- end -}}

{{/* A kubeconfig. Takes a dictionary: url, user, ca (base64), and token. */}}
{{- define "sternpost.kubeconfig" -}}
apiVersion: v1
kind: Config
current-context: sternpost
clusters:
  - name: sternpost
    cluster:
      server: {{ .url }}
      certificate-authority-data: {{ .ca }}
users:
  - name: {{ .user }}
    user:
      token: {{ .token }}
contexts:
  - name: sternpost
    context:
      cluster: sternpost
      user: {{ .user }}
{{- end -}}
