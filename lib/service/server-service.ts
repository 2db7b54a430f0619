import { existsSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { CannotStart } from '../exit.ts'
import { launchd, plistOf } from './launchd.ts'
import { runTool, type ServiceManager } from './manager.ts'
import { scheduledTask, taskOf } from './scheduled-task.ts'
import { serverUnit, systemPlaces } from './server-unit.ts'
import { systemd } from './systemd.ts'

/** The server as a service of this system, or of this person where it is not root. */
export interface ServerService {
  manager: ServiceManager
  /** Its definition, for a server that is started by this command. */
  definition(command: readonly string[]): string
  /** Of its options, unless another is named. */
  config: string
  /** Where it stores everything, as a new file of options says; undefined for the default of `--data`. */
  data: string | undefined
  /** The user that runs it, if it is created for that. */
  user: string | undefined
  /** Creates that user. */
  prepare(): void
  /** When it starts. */
  starts: string
  /** What a person types to read its log. */
  log: string
  /** To make it read its options again. */
  restart: string
  /** What has to be done once for it to run while nobody is signed in. */
  hint: string | undefined
  /** Nobody has tried it on such a system yet. */
  isUntried: boolean
}

type Env = Readonly<Record<string, string | undefined>>

/** Throws CannotStart where a package of the system has its own service, and on unknown systems. */
export function findServerService(env: Env): ServerService {
  const isRoot = process.getuid?.() === 0
  if (process.platform === 'linux') return isRoot ? systemService() : userService(env)
  if (process.platform === 'darwin') return launchdService(env)
  if (process.platform === 'win32') return windowsService(env)
  throw new CannotStart('Afield cannot install itself as a service on this system. Let its own service manager run: afield serve')
}

const ofPackage = ['/usr/lib/systemd/system/afield.service', '/lib/systemd/system/afield.service']

/** The unit that the Debian package has installed. */
export function packagedUnit(): string | undefined {
  return ofPackage.find(file => existsSync(file))
}

function systemService(): ServerService {
  const packaged = packagedUnit()
  if (packaged) throw new CannotStart(serviceOfPackage(packaged, existsSync('/run/systemd/system')))
  const { user, config, data } = systemPlaces
  return {
    manager: systemd({ file: '/etc/systemd/system/afield.service', scope: 'system' }),
    definition: command => serverUnit({ command, scope: 'system' }),
    config,
    data,
    user,
    prepare: () => runTool('systemd-sysusers', ['--inline', `u ${user} - "Afield server" ${data}`]),
    starts: 'with the system',
    log: 'journalctl -u afield',
    restart: 'systemctl restart afield',
    hint: undefined,
    isUntried: false
  }
}

/** Without systemd, as in most containers, its unit is there and nothing reads it. */
export function serviceOfPackage(unit: string, hasSystemd: boolean): string {
  const installed = `The Debian package has installed the service, in ${unit}`
  if (hasSystemd) return `${installed}. Use: systemctl status afield, and apt to remove it.`
  const { user, config } = systemPlaces
  return `${installed}, but systemd does not run here. Start the server as root with:\n  runuser -u ${user} -- afield serve --config ${config}`
}

function userService(env: Env): ServerService {
  const folder = env['XDG_CONFIG_HOME'] || join(homedir(), '.config')
  // Its daemon for agents already has the shorter name.
  const unit = 'afield-server.service'
  return {
    ...ofPerson(join(folder, 'afield', 'afield.toml')),
    manager: systemd({ file: join(folder, 'systemd', 'user', unit), scope: 'user' }),
    definition: command => serverUnit({ command, scope: 'user' }),
    log: 'journalctl --user -u afield-server',
    restart: 'systemctl --user restart afield-server',
    hint: `To let it run while you are not signed in: sudo loginctl enable-linger ${userInfo().username}`,
    isUntried: false
  }
}

function launchdService(env: Env): ServerService {
  const label = 'dev.afield.server'
  const library = join(homedir(), 'Library')
  const log = join(library, 'Logs', 'afield.log')
  const domain = `gui/${userInfo().uid}`
  return {
    ...ofPerson(join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'afield', 'afield.toml')),
    manager: launchd({ file: join(library, 'LaunchAgents', `${label}.plist`), label, domain }),
    definition: command => plistOf({ label, command, log }),
    log: `tail ${log}`,
    restart: `launchctl kickstart -k ${domain}/${label}`,
    hint: undefined,
    isUntried: true
  }
}

function windowsService(env: Env): ServerService {
  const folder = join(env['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local'), 'Afield')
  const name = 'Afield server'
  return {
    ...ofPerson(join(folder, 'afield.toml')),
    manager: scheduledTask({ file: join(folder, 'service.xml'), name }),
    definition: taskOf,
    log: `schtasks /Query /V /TN "${name}"`,
    restart: `schtasks /End /TN "${name}", then schtasks /Run /TN "${name}"`,
    hint: undefined,
    isUntried: true
  }
}

function ofPerson(config: string) {
  return { config, data: undefined, user: undefined, prepare() {}, starts: 'whenever you sign in' }
}
