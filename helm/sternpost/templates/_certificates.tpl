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

{{/* The same by the files of an identity that is mounted at /etc/sternpost/identity. Takes a dictionary: url and user. */}}
{{- define "sternpost.kubeconfigOfFiles" -}}
apiVersion: v1
kind: Config
current-context: sternpost
clusters:
  - name: sternpost
    cluster:
      server: {{ .url }}
      certificate-authority: /etc/sternpost/identity/ca.crt
users:
  - name: {{ .user }}
    user:
      client-certificate: /etc/sternpost/identity/tls.crt
      client-key: /etc/sternpost/identity/tls.key
contexts:
  - name: sternpost
    context:
      cluster: sternpost
      user: {{ .user }}
{{- end -}}

{{/* The volume of an identity of cert-manager's: its certificate, and the CA of the server. Takes the context and who it is. */}}
{{- define "sternpost.identityVolume" -}}
{{- $context := index . 0 -}}
- name: identity
  projected:
    defaultMode: 288
    sources:
      - secret:
          name: {{ include "sternpost.fullname" $context }}-{{ index . 1 }}-client
          items:
            - key: tls.crt
              path: tls.crt
            - key: tls.key
              path: tls.key
      - secret:
          name: {{ include "sternpost.secret.tls" $context }}
          items:
            - key: {{ $context.Values.tls.caKey }}
              path: ca.crt
{{- end -}}

{{/* "true" when the administrator of this release has a certificate of cert-manager's. */}}
{{- define "sternpost.adminByFiles" -}}
{{- $v := .Values -}}
{{- if and $v.adminKubeconfig.enabled (eq $v.tls.mode "cert-manager") (not $v.tls.clientCA.existingSecret) -}}true{{- end -}}
{{- end -}}

{{/* "true" when there is somebody as whom "helm test" can come. */}}
{{- define "sternpost.hasTest" -}}
{{- $v := .Values -}}
{{- $hasAdmin := and $v.adminKubeconfig.enabled (has $v.tls.mode (list "helm" "job")) -}}
{{- if and $v.test.enabled (or $v.test.existingSecret $hasAdmin (include "sternpost.adminByFiles" .)) -}}true{{- end -}}
{{- end -}}
