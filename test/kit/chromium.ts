import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import type { Test } from 'tap'

/** A real Chromium that closes with the test. Debian's is installed when it is missing and we may. `fontSize`: as its reader set it, in px. */
export async function openChromium(t: Test, fontSize?: number): Promise<Browser> {
  const browser = await launchChromium(fontSize)
  t.teardown(() => browser.close())
  return browser
}

/** For whoever closes it. */
export function launchChromium(fontSize?: number): Promise<Browser> {
  // The setting itself, not a style of the page: media queries follow it too.
  const larger = fontSize === undefined ? [] : [`--blink-settings=defaultFontSize=${fontSize},defaultFixedFontSize=${fontSize}`]
  return chromium.launch({ executablePath: findOrInstall(), args: [...quiet, ...larger] })
}

// No sandbox, because root may not have one; the rest keeps it from calling home or drawing on a graphics card.
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
]

function findOrInstall(): string {
  const installed = find()
  if (installed) return installed
  if (process.platform === 'linux' && process.getuid?.() === 0) {
    for (const step of [['update'], ['install', '-y', '--no-install-recommends', 'chromium']]) {
      spawnSync('apt-get', ['-qq', ...step], { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } })
    }
  }
  const found = find()
  if (!found) throw new Error('The browser tests need Chromium: run `apt-get install chromium`, or name one in AFIELD_TEST_CHROMIUM.')
  return found
}

function find(): string | undefined {
  const named = process.env['AFIELD_TEST_CHROMIUM']
  return [...(named ? [named] : []), '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(path =>
    existsSync(path)
  )
}
