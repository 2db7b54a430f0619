import { build } from 'esbuild'
import t from 'tap'
import { openChromium } from '../kit/chromium.ts'
import type { BrowserReport } from './in-browser.ts'

t.test('the browser bundle has one engine, and no WebAssembly', async t => {
  const { metafile } = await bundle('lib/crypto/index.ts')
  const inputs = Object.keys(metafile.inputs).filter(path => /libsodium|engine-/.test(path))
  t.same(inputs, ['lib/crypto/engine-noble.ts'])
})

t.test('in a real browser every vector matches and every dialect is rejected [A2]', async t => {
  const browser = await openChromium(t)
  const page = await browser.newPage()
  await page.addScriptTag({ content: (await bundle('test/crypto/in-browser.ts')).text })
  const report: BrowserReport = await page.evaluate('inBrowser.report()')

  t.ok(report.vectors > 500, `${report.vectors} checks`)
  t.same(report.wrongVectors, [])
  t.ok(report.isHonestAccepted)
  t.same(report.acceptedDialects, [])
  t.same(report.differingBase64, [], report.hasNativeBase64 ? 'held against the native base64' : 'this browser has no base64 of its own')
})

async function bundle(entry: string) {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    format: 'iife',
    globalName: 'inBrowser',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    logLevel: 'silent'
  })
  return { text: outputFiles[0]?.text ?? '', metafile }
}
