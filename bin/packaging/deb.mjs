import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { firstConfig, serverUnit, systemPlaces } from '../../lib/service/server-unit.ts'
import { filesUnder } from '../../web/bundle.mjs'
import { commands } from '../commands.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const at = (...parts) => join(root, ...parts)

const architectures = { x64: 'amd64', arm64: 'arm64' }

/**
 * Makes the Debian package of a single-file program, the same bytes from the same input, and returns its path in the folder `out`.
 * `arch` is as Node.js calls it; `licences` is a file with those of everything in the program; `seconds` is the time in the package,
 * since 1970, `level` how hard to compress. Needs `dpkg-deb`.
 */
export function debianPackage({ binary, version, arch, out, licences, level = 6, seconds = Number(process.env.SOURCE_DATE_EPOCH ?? 0) }) {
  const architecture = architectures[arch]
  if (!architecture) throw new Error(`There is no Debian package for ${arch}, only for ${Object.keys(architectures).join(' and ')}.`)
  const work = mkdtempSync(join(tmpdir(), 'afield-deb-'))
  try {
    const tree = join(work, 'tree')
    writeTree(tree, { binary, licences, revision: revisionOf(version), seconds })
    writeControl(join(tree, 'DEBIAN'), { tree, architecture, revision: revisionOf(version) })
    mkdirSync(out, { recursive: true })
    const file = join(out, `afield_${revisionOf(version)}_${architecture}.deb`)
    execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', `-z${level}`, '--build', tree, file], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, SOURCE_DATE_EPOCH: String(seconds) }
    })
    return file
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

// Debian sorts a tilde before the end: 1.0.0~rc.1 is older than 1.0.0.
function revisionOf(version) {
  return `${version.replace('-', '~')}-1`
}

const maintainer = 'The Afield authors <authors@afield.invalid>'

function writeTree(tree, { binary, licences = at('build/web/licences.txt'), revision, seconds }) {
  const put = (path, text, mode = 0o644) => {
    const file = join(tree, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    chmodSync(file, mode)
  }
  const packed = text => gzipSync(text, { level: 9 })
  mkdirSync(join(tree, 'usr/bin'), { recursive: true })
  copyFileSync(binary, join(tree, 'usr/bin/afield'))
  chmodSync(join(tree, 'usr/bin/afield'), 0o755)
  const command = ['/usr/bin/afield', 'serve', '--config', systemPlaces.config]
  put('usr/lib/systemd/system/afield.service', serverUnit({ command, scope: 'system' }))
  // Secrets may be in it: its group, the server's, is set when the account exists.
  put(systemPlaces.config, firstConfig(systemPlaces.data, 'systemctl restart afield', `${systemPlaces.logs}/security.log`), 0o640)
  for (const part of ['filter.d', 'jail.d'])
    put(`etc/fail2ban/${part}/afield.conf`, readFileSync(at('examples/fail2ban', part, 'afield.conf')))
  put('etc/logrotate.d/afield', rotation)
  put('usr/share/man/man1/afield.1.gz', packed(manualPage()))
  put('usr/share/doc/afield/changelog.gz', packed(readFileSync(at('CHANGELOG.md'))))
  put('usr/share/doc/afield/changelog.Debian.gz', packed(debianChangelog(revision, seconds)))
  put('usr/share/doc/afield/copyright', copyright())
  put('usr/share/doc/afield/licences.txt', readFileSync(licences))
  put('usr/share/lintian/overrides/afield', overrides)
  for (const page of pages()) put(`usr/share/doc/afield/${page}`, page.endsWith('.md') ? withoutTests(page) : readFileSync(at(page)))
}

/** A page that names tests by their titles alone: they are not in the package. */
function withoutTests(page) {
  return readFileSync(at(page), 'utf8').replaceAll(/\[([^\]]*)\]\((\.\.\/)?test\/[^)]*\)/g, '$1')
}

/** All pages, at the same paths as in the sources, with what they link to: so that every link holds without a network. */
function pages() {
  const under = (folder, wanted) =>
    filesUnder(at(folder))
      .filter(file => wanted.test(file))
      .map(file => relative(root, file))
  const above = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'LICENSE']
  return [...above, ...under('docs', /\.(md|png|svg|jsonl)$/), ...under('examples', /\.(ts|conf|yaml|sh)$/)]
}

// The server notices by itself that its file is another.
const rotation = `${systemPlaces.logs}/*.log {
	su ${systemPlaces.user} ${systemPlaces.user}
	weekly
	maxsize 100M
	rotate 8
	missingok
	notifempty
	nocreate
	compress
	delaycompress
}
`

/** The package's description of itself, and the scripts of `deb/` that dpkg runs. */
function writeControl(folder, { tree, architecture, revision }) {
  const installed = filesUnder(tree)
  mkdirSync(folder)
  const kib = installed.reduce((sum, file) => sum + Math.ceil(statSync(file).size / 1024), 0)
  writeFileSync(
    join(folder, 'control'),
    `Package: afield
Version: ${revision}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${kib}
Depends: adduser, libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 8)
Suggests: fail2ban
Section: net
Priority: optional
Description: follow your coding agents from your phone
 Afield keeps your coding agents working while you are away from your desk:
 on your phone you follow what they do, answer their questions and send them
 the next task. This package runs its server and has its command line, which
 also starts the agents. Everything between them and the phone is encrypted
 end to end.
`
  )
  const conffiles = installed.map(file => file.slice(tree.length)).filter(path => path.startsWith('/etc/'))
  writeFileSync(
    join(folder, 'conffiles'),
    conffiles
      .sort()
      .map(path => `${path}\n`)
      .join('')
  )
  for (const script of readdirSync(at('bin/packaging/deb'))) {
    cpSync(at('bin/packaging/deb', script), join(folder, script))
    chmodSync(join(folder, script), 0o755)
  }
}

function manualPage() {
  const entries = commands.filter(({ about }) => about).map(({ usage, about }) => `.TP\n\\fB${usage.split(' ')[0]}\\fR\n${about}.`)
  return String.raw`.TH AFIELD 1
.SH NAME
afield \- follow your coding agents from your phone
.SH SYNOPSIS
\fBafield\fR \fIcommand\fR [\fIoption\fR ...]
.SH DESCRIPTION
Runs the Afield server, and coding agents that are followed from a phone.
.SH COMMANDS
${entries.join('\n')}
.PP
\fBafield\fR \fIcommand\fR \fB\-\-help\fR shows the options of a command.
.SH FILES
.TP
\fI${systemPlaces.config}\fR
Options of the server, which \fBsystemctl restart afield\fR reads again.
.TP
\fI${systemPlaces.data}\fR
Everything that the server stores.
.TP
\fI~/.afield\fR
What this computer stores for its agents.
.SH EXIT STATUS
0 is success, 70 a bug, 75 a failure of the storage, and 78 a problem with the options or the system.
.SH SEE ALSO
\fI/usr/share/doc/afield/README.md\fR and the pages that it names.
`.replaceAll(/(?<=[a-z])-(?=[a-z])/g, '\\-')
}

function debianChangelog(revision, seconds) {
  const date = new Date(seconds * 1000).toUTCString().replace('GMT', '+0000')
  return `afield (${revision}) stable; urgency=medium

  * See changelog.gz.

 -- ${maintainer}  ${date}
`
}

function copyright() {
  const indented = text =>
    text
      .trim()
      .split('\n')
      .map(line => (line.trim() === '' ? ' .' : ` ${line.trimEnd()}`))
      .join('\n')
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Afield
Comment: The program contains Node.js and packages of npm under their own
 licences, see licences.txt beside this file.

Files: *
Copyright: (c) The Afield authors
License: Expat
${indented(readFileSync(at('LICENSE'), 'utf8').split('\n').slice(2).join('\n'))}
`
}

const overrides = `# The program is a copy of Node.js with its scripts inside, which strip would cut off.
afield: unstripped-binary-or-object
afield: embedded-library
# Node.js is built so.
afield: hardening-no-pie
# Secrets may be in it.
afield: non-standard-file-perm 0640 != 0644 [etc/afield/afield.toml]
# The pages link to it.
afield: extra-license-file [usr/share/doc/afield/LICENSE]
# The licence names its authors, without a year.
afield: copyright-without-copyright-notice
# It is not a package of Debian, which has no bug reports about it.
afield: initial-upload-closes-no-bugs
`
