{{/* What cannot work is refused here, with all problems at once. */}}
{{- define "sternpost.guards" -}}
{{- $v := .Values -}}
{{- $problems := list -}}
{{- $replicated := include "sternpost.isReplicated" . -}}
{{- $embedded := eq $v.storage.type "embedded" -}}
{{- if and $embedded $replicated -}}
{{- $problems = append $problems "storage.type embedded is for one replica: set replicaCount 1 and no autoscaling, or storage.type etcd" -}}
{{- end -}}
{{- if and $embedded $v.etcd.endpoints -}}
{{- $problems = append $problems "etcd.endpoints are given, but storage.type is embedded: set storage.type etcd" -}}
{{- end -}}
{{- if and $embedded (gt (int $v.server.workers) 1) -}}
{{- $problems = append $problems "server.workers needs storage.type etcd: the embedded store belongs to one process" -}}
{{- end -}}
{{- if and (not $embedded) (not $v.etcd.endpoints) -}}
{{- $problems = append $problems "etcd.endpoints is required with storage.type etcd" -}}
{{- end -}}
{{- range $v.etcd.endpoints -}}
{{- if and (hasPrefix "https://" .) (not $v.etcd.tls.existingSecret) -}}
{{- $problems = append $problems (printf "etcd.tls.existingSecret is required: %s is an https endpoint" .) -}}
{{- end -}}
{{- end -}}
{{- if and $v.etcd.tls.existingSecret (not $v.etcd.tls.caKey) (not $v.etcd.tls.certKey) -}}
{{- $problems = append $problems "etcd.tls.existingSecret has neither caKey nor certKey" -}}
{{- end -}}
{{- $pdb := $v.podDisruptionBudget -}}
{{- $minAvailable := toString $pdb.minAvailable -}}
{{- if and $pdb.enabled $replicated -}}
{{- $least := ternary (int $v.autoscaling.minReplicas) (int $v.replicaCount) $v.autoscaling.enabled -}}
{{- /* Kubernetes rounds percentages up. */ -}}
{{- $needed := ternary (div (add (mul $least (trimSuffix "%" $minAvailable | int)) 99) 100) (int $minAvailable) (hasSuffix "%" $minAvailable) -}}
{{- if and (ne $minAvailable "") (ge (int $needed) $least) -}}
{{- $problems = append $problems (printf "podDisruptionBudget.minAvailable %s forbids every eviction of %d replicas" $minAvailable $least) -}}
{{- end -}}
{{- if and (eq $minAvailable "") (has (toString $pdb.maxUnavailable) (list "0" "0%" "")) -}}
{{- $problems = append $problems "podDisruptionBudget.maxUnavailable 0 forbids every eviction" -}}
{{- end -}}
{{- end -}}
{{- if and (gt (float64 $v.server.goawayChance) 0.0) (not $replicated) -}}
{{- $problems = append $problems "server.goawayChance sends clients to other replicas: it needs more than one" -}}
{{- end -}}
{{- if and $v.autoscaling.enabled (gt (int $v.autoscaling.minReplicas) (int $v.autoscaling.maxReplicas)) -}}
{{- $problems = append $problems "autoscaling.minReplicas is greater than autoscaling.maxReplicas" -}}
{{- end -}}
{{- if and $v.autoscaling.enabled (not $v.autoscaling.targetCPUUtilizationPercentage) (not $v.autoscaling.targetMemoryUtilizationPercentage) -}}
{{- $problems = append $problems "autoscaling has no target: set targetCPUUtilizationPercentage or targetMemoryUtilizationPercentage" -}}
{{- end -}}
{{- if le (int (include "sternpost.gracePeriod" .)) (int $v.shutdown.delaySeconds) -}}
{{- $problems = append $problems "shutdown.terminationGracePeriodSeconds must be longer than shutdown.delaySeconds: nothing would be drained" -}}
{{- end -}}
{{- if and (eq $v.updateStrategy.type "RollingUpdate") (has (toString $v.updateStrategy.rollingUpdate.maxUnavailable) (list "0" "0%")) (has (toString $v.updateStrategy.rollingUpdate.maxSurge) (list "0" "0%")) -}}
{{- $problems = append $problems "updateStrategy.rollingUpdate: maxSurge and maxUnavailable cannot both be 0" -}}
{{- end -}}
{{- $mode := $v.tls.mode -}}
{{- if eq $mode "existingSecret" -}}
{{- if not $v.tls.existingSecret -}}{{- $problems = append $problems "tls.existingSecret is required with tls.mode existingSecret" -}}{{- end -}}
{{- if not $v.tls.clientCA.existingSecret -}}{{- $problems = append $problems "tls.clientCA.existingSecret is required with tls.mode existingSecret" -}}{{- end -}}
{{- if and $v.tls.frontProxy.enabled (not $v.tls.frontProxy.existingSecret) -}}{{- $problems = append $problems "tls.frontProxy.existingSecret is required with tls.mode existingSecret" -}}{{- end -}}
{{- if and $v.controllers.enabled (not $v.controllers.kubeconfig.existingSecret) -}}{{- $problems = append $problems "controllers.kubeconfig.existingSecret is required with tls.mode existingSecret (or controllers.enabled false)" -}}{{- end -}}
{{- else if $v.tls.existingSecret -}}
{{- $problems = append $problems (printf "tls.existingSecret is given, but tls.mode is %s: set tls.mode existingSecret" $mode) -}}
{{- end -}}
{{- if and (has $mode (list "existingSecret" "cert-manager")) (not $v.tls.serviceAccountKey.existingSecret) -}}
{{- $problems = append $problems (printf "tls.serviceAccountKey.existingSecret is required with tls.mode %s" $mode) -}}
{{- end -}}
{{- if and (eq $mode "cert-manager") $v.tls.clientCA.existingSecret $v.controllers.enabled (not $v.controllers.kubeconfig.existingSecret) -}}
{{- $problems = append $problems "controllers.kubeconfig.existingSecret is required with tls.mode cert-manager and a client CA of your own" -}}
{{- end -}}
{{- if and (include "sternpost.makesTokens" .) $v.authentication.tokenAuth.existingSecret -}}
{{- $problems = append $problems "authentication.tokenAuth.existingSecret does not go with tokens that Helm makes: set adminKubeconfig.enabled false and controllers.kubeconfig.existingSecret, or another tls.mode" -}}
{{- end -}}
{{- if and (has $mode (list "helm" "job")) (le (int $v.tls.validityDays) (int $v.tls.renewBeforeDays)) -}}
{{- $problems = append $problems "tls.renewBeforeDays must be less than tls.validityDays" -}}
{{- end -}}
{{- if ne (eq $v.authentication.oidc.issuerURL "") (eq $v.authentication.oidc.clientID "") -}}
{{- $problems = append $problems "authentication.oidc.issuerURL and clientID go together" -}}
{{- end -}}
{{- range $mode, $value := dict "ABAC" $v.authorization.abac.existingConfigMap "Webhook" $v.authorization.webhook.existingSecret -}}
{{- $field := ternary "abac.existingConfigMap" "webhook.existingSecret" (eq $mode "ABAC") -}}
{{- if and (has $mode $v.authorization.modes) (not $value) -}}
{{- $problems = append $problems (printf "authorization.%s is required with the mode %s" $field $mode) -}}
{{- else if and $value (not (has $mode $v.authorization.modes)) -}}
{{- $problems = append $problems (printf "authorization.%s is given, but authorization.modes has no %s" $field $mode) -}}
{{- end -}}
{{- end -}}
{{- if and $v.authentication.anonymous (has "AlwaysAllow" $v.authorization.modes) -}}
{{- $problems = append $problems "authentication.anonymous with the mode AlwaysAllow would let anybody do anything" -}}
{{- end -}}
{{- range $part, $values := dict "admission" (list $v.admission.config $v.admission.existingConfigMap) "audit" (list $v.audit.policy $v.audit.existingConfigMap) "tracing" (list $v.tracing.config $v.tracing.existingConfigMap) -}}
{{- if and (index $values 0) (index $values 1) -}}
{{- $problems = append $problems (printf "%s: give either a configuration or existingConfigMap" $part) -}}
{{- end -}}
{{- end -}}
{{- if eq (int $v.server.port) (int $v.health.port) -}}
{{- $problems = append $problems "server.port and health.port are the same" -}}
{{- end -}}
{{- if and $v.service.nodePort (eq $v.service.type "ClusterIP") -}}
{{- $problems = append $problems "service.nodePort needs service.type NodePort or LoadBalancer" -}}
{{- end -}}
{{- if and $v.service.externalTrafficPolicy (eq $v.service.type "ClusterIP") -}}
{{- $problems = append $problems "service.externalTrafficPolicy needs service.type NodePort or LoadBalancer" -}}
{{- end -}}
{{- if and $v.ingress.enabled (not $v.ingress.hosts) -}}
{{- $problems = append $problems "ingress.hosts is required: TLS is passed through by its server name" -}}
{{- end -}}
{{- if and $v.tlsRoute.enabled (or (not $v.tlsRoute.hostnames) (not $v.tlsRoute.parentRefs)) -}}
{{- $problems = append $problems "tlsRoute.hostnames and tlsRoute.parentRefs are required" -}}
{{- end -}}
{{- if and $v.serviceMonitor.enabled (not $v.serviceMonitor.bearerTokenSecret) (not (include "sternpost.makesTokens" .)) -}}
{{- $problems = append $problems "serviceMonitor.bearerTokenSecret is required unless tls.mode is helm: /metrics wants to know who asks" -}}
{{- end -}}
{{- $tooOld := and $v.server.emulatedVersion (semverCompare "<1.26.0" (printf "%s.0" (default "1.26" $v.server.emulatedVersion))) -}}
{{- if and $v.serviceMonitor.enabled $v.serviceMonitor.slisInterval (not $v.serviceMonitor.bearerTokenSecret) $tooOld -}}
{{- $problems = append $problems "serviceMonitor.slisInterval needs server.emulatedVersion 1.26 or later, or a serviceMonitor.bearerTokenSecret of your own: the role system:monitoring had no right to /metrics/slis before" -}}
{{- end -}}
{{- if and $v.tls.clientCA.existingSecret (has $mode (list "helm" "job")) -}}
{{- $problems = append $problems (printf "tls.clientCA.existingSecret goes with tls.mode existingSecret or cert-manager, not %s" $mode) -}}
{{- end -}}
{{- with $problems -}}
{{- fail (printf "\n\nThese values cannot work:\n- %s" (join "\n- " .)) -}}
{{- end -}}
{{- end -}}
