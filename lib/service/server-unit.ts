import { commandOf } from './systemd.ts'

interface ServerUnit {
  /** The program with its arguments. */
  command: readonly string[]
  /** A unit of the system runs as the user `afield`; one of a person as that person. */
  scope: 'system' | 'user'
}

/** Where a service of the system has its things. `systemd` creates the last two directories. */
export const systemPlaces = {
  user: 'afield',
  config: '/etc/afield/afield.toml',
  data: '/var/lib/afield',
  logs: '/var/log/afield'
} as const

/** The systemd unit that runs the server. */
export function serverUnit({ command, scope }: ServerUnit): string {
  const isSystem = scope === 'system'
  return `[Unit]
Description=Afield server
${isSystem ? 'Wants=network-online.target\nAfter=network-online.target\n' : ''}# Of a disk that fails again and again a person must hear.
StartLimitIntervalSec=600
StartLimitBurst=3

[Service]
Type=exec
ExecStart=${commandOf(command)}
Restart=on-failure
RestartSec=5
# A bug, and options that cannot work: a restart changes nothing.
RestartPreventExitStatus=70 78
# Running requests get ten seconds.
TimeoutStopSec=30
# One connection, one file handle.
LimitNOFILE=65536
UMask=0077
${isSystem ? systemAccount + systemSandbox : ''}${sandbox}
[Install]
WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}
`
}

const systemAccount = `User=${systemPlaces.user}
Group=${systemPlaces.user}
StateDirectory=afield
StateDirectoryMode=0700
LogsDirectory=afield
LogsDirectoryMode=0700

# So that it may listen on the ports 80 and 443.
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
`

// A unit of a person cannot have these: they need root.
const systemSandbox = `
# It writes to its own directories only. To let it write backups elsewhere:
# systemctl edit afield, then [Service] and ReadWritePaths=/mnt/backup
ProtectSystem=strict
ProtectHome=yes
# The program loads its native parts from a file of a few milliseconds in here.
PrivateTmp=yes
PrivateMounts=yes
PrivateDevices=yes
DevicePolicy=closed
ProtectProc=invisible
ProcSubset=pid
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RemoveIPC=yes
`

// Without MemoryDenyWriteExecute: V8 compiles as it runs. AF_NETLINK lists this computer's own addresses.
const sandbox = `
NoNewPrivileges=yes
LockPersonality=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
`

/** A configuration file to begin with. `data` is written out because the default depends on the user's home. */
export function firstConfig(data: string, restart: string, securityLog: string): string {
  return `# Options of the Afield server, by their names in \`afield serve --help\`.
# After a change: ${restart}

data = ${JSON.stringify(data)}

# Where phones reach this server, and the proxy in front of it:
# public-url = "https://afield.example.net"
# trust-proxy = "loopback"

# Who gets an account besides the owner: owner (no one), approve, invite, open or closed.
# signup = "approve"

# Hours between backups, and where they go:
# backup-every = 24
# backup-to = "/mnt/backup"

# One line, with the client's address, per rejected attempt; fail2ban can read it:
# security-log = ${JSON.stringify(securityLog)}
`
}
