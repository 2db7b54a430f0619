import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import type { Test } from 'tap'

export interface BrowserSettings {
  /** The reader's setting, in px. */
  fontSize?: number
  /** The hash of the key of a certificate that it accepts although no known authority signed it. */
  trustedKey?: string
  /** The host and port that it talks HTTP/3 with from the first request on. */
  http3At?: string
  /** Where it connects to instead, such as `localhost:443 127.0.0.1:8443`; pages keep their addresses. */
  instead?: string
  /** The browser of a person. Otherwise without its windows where Debian's chromium-headless-shell is installed: half the processor time. */
  isWhole?: boolean
}

/** A real Chromium that closes with the test. Debian's is installed if missing and permitted. */
export async function openChromium(t: Test, settings?: BrowserSettings): Promise<Browser> {
  const browser = await launchChromium(settings)
  t.teardown(() => browser.close())
  return browser
}

/** For callers that close it themselves. */
export function launchChromium({ fontSize, trustedKey, http3At, instead, isWhole = false }: BrowserSettings = {}): Promise<Browser> {
  // The browser setting, not a style of the page: media queries follow it too.
  const larger = fontSize === undefined ? [] : [`--blink-settings=defaultFontSize=${fontSize},defaultFixedFontSize=${fontSize}`]
  const trusting = trustedKey === undefined ? [] : [`--ignore-certificate-errors-spki-list=${trustedKey}`]
  const http3 = http3At === undefined ? ['--disable-quic'] : ['--enable-quic', `--origin-to-force-quic-on=${http3At}`]
  const elsewhere = instead === undefined ? [] : [`--host-resolver-rules=MAP ${instead}`]
  return chromium.launch({
    executablePath: findOrInstall(placesOf(isWhole)),
    args: [...quiet, ...larger, ...trusting, ...http3, ...elsewhere]
  })
}

// No sandbox, because root may not have one; the rest disables network calls of its own and the graphics card.
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
]

/** The first of these places that has a browser; otherwise Debian's is installed if permitted. */
export function findOrInstall(places: readonly string[]): string {
  const installed = places.find(path => existsSync(path))
  if (installed) return installed
  if (process.platform === 'linux' && process.getuid?.() === 0) installOnce(places)
  const found = places.find(path => existsSync(path))
  if (!found) throw new Error('The browser tests need Chromium: run `apt-get install chromium`, or name one in AFIELD_TEST_CHROMIUM.')
  return found
}

// Test files that start together all miss it, and apt fails for all but the first: the others wait for that one.
function installOnce(places: readonly string[]): void {
  const lock = join(tmpdir(), 'afield-chromium.lock')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('flock', [lock, 'sh', '-c', unlessThere, 'sh', ...places], { stdio: 'ignore', env })
}

const unlessThere = `
  for place; do [ -e "$place" ] && exit 0; done
  apt-get -qq update
  apt-get -qq install -y --no-install-recommends chromium`

const named = process.env['AFIELD_TEST_CHROMIUM']
const wholeBrowsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const placesOf = (isWhole: boolean) => [
  ...(named ? [named] : []),
  ...(isWhole ? [] : ['/usr/bin/chromium-headless-shell']),
  ...wholeBrowsers
]
