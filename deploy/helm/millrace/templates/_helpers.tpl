{{- define "millrace.fullname" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride }}
{{- else if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "millrace.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "millrace.labels" -}}
{{ include "millrace.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "millrace.image" -}}
{{ printf "%s:%s" .image.repository (.image.tag | default .root.Chart.AppVersion) }}
{{- end }}

{{/* What the pods of servers and runners have in common. They pass the Pod Security Standard "restricted". */}}
{{- define "millrace.pod" -}}
automountServiceAccountToken: false
# A Service named millrace would otherwise set MILLRACE_PORT to an address.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .of.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .of.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .of.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
{{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ $.selector | nindent 8 }}
{{- end }}
{{- end }}

{{- define "millrace.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "millrace.serverSelector" -}}
{{ include "millrace.selector" . }}
app.kubernetes.io/component: server
{{- end }}

{{- define "millrace.dns" -}}
# Names are looked up at whatever serves them.
- ports: [{ port: 53, protocol: UDP }, { port: 53, protocol: TCP }]
{{- end }}
