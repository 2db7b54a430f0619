import { Transform } from 'node:stream'

const longestDiagnosis = 80

/**
 * Converts TAP to a line per test file, the failures in full, and the closing line that CI reads:
 * `N passed, N failed`. It counts the tests that a file names, not their assertions. A skipped test fails if `mustRun`
 * says so of its reason.
 */
export default class Reporter extends Transform {
  constructor({ mustRun = () => false, isPart = false } = {}) {
    super()
    this.mustRun = mustRun
    this.isPart = isPart
  }

  rest = ''
  passed = 0
  failed = 0
  skipped = 0
  /** For a rerun of failed files: how many tests passed in the others, and what failed: file, titles, first line. */
  ended = { failedFiles: [], passed: 0, skipped: 0, failures: [], skippedWrongly: 0 }
  inFile = { passed: 0, failed: 0, skipped: 0 }
  /** The current test, outermost first: the file, then the titles. */
  path = []
  isDiagnosed = false
  /** Set while reading the diagnosis of a failed assertion. */
  diagnosisIndent = undefined
  shownLines = 0

  _transform(chunk, _encoding, done) {
    const lines = (this.rest + chunk).split('\n')
    this.rest = lines.pop()
    for (const line of lines) this.readLine(line)
    done()
  }

  _flush(done) {
    if (this.rest) this.readLine(this.rest)
    if (this.isPart) return done()
    this.push(`${this.passed} passed, ${this.failed} failed${this.skipped > 0 ? `, ${this.skipped} skipped` : ''}\n`)
    done()
  }

  readLine(line) {
    if (this.isDiagnosis(line)) return
    const subtest = /^( *)# Subtest: (.*)$/.exec(line)
    if (subtest) this.path.splice(subtest[1].length / 4, Infinity, subtest[2])
    const point = /^( *)(not )?ok \d+(?: - )?(.*)$/.exec(line)
    if (point) this.readPoint(point[1].length / 4, point[2] === undefined, point[3])
    if (line.startsWith('Bail out!')) {
      this.failed++
      this.push(`${line}\n`)
    }
  }

  readPoint(depth, isOk, title) {
    const isTest = depth > 0 && / # time=[\d.]+ms$/.test(title)
    const isRefused = depth > 0 && this.refusesSkip(depth, title)
    if (depth === 1 && !isRefused) this.count(isOk, title)
    if (depth === 0) this.endFile(isOk, title)
    // A failed test adds nothing to its failed assertion.
    if (isOk || isTest || (depth === 0 && this.isDiagnosed)) return
    this.diagnosisIndent = ' '.repeat(depth * 4 + 2)
    this.shownLines = 0
    this.ended.failures.push({ file: this.path[0], title: this.titleOf(depth, title), line: '' })
    this.push(`  FAILED ${this.titleOf(depth, title)}\n`)
  }

  count(isOk, title) {
    const kind = / # (skip|todo)/i.test(title) ? 'skipped' : isOk ? 'passed' : 'failed'
    this[kind]++
    this.inFile[kind]++
  }

  refusesSkip(depth, title) {
    const [, skipped, reason] = /^(.*?)(?: # SKIP ?(.*))?$/.exec(title)
    if (reason === undefined || !this.mustRun(reason)) return false
    this.ended.skippedWrongly++
    this.push(
      `  FAILED ${this.titleOf(depth, skipped)}\n    It was skipped: ${reason || 'no reason'}. test/kit/needs.ts says what may be.\n`
    )
    return true
  }

  endFile(isOk, title) {
    // A file can fail without a failed test: it ended early, timed out or had no tests.
    if (!isOk && this.inFile.failed === 0) this.failed++
    if (isOk) {
      this.ended.passed += this.inFile.passed
      this.ended.skipped += this.inFile.skipped
    } else this.ended.failedFiles.push(this.path[0])
    this.push(`${isOk ? 'ok  ' : 'FAIL'} ${title.replace(/ # time=([\d.]+)ms$/, (_, ms) => ` (${Math.round(ms)} ms)`)}\n`)
    this.isDiagnosed = this.inFile.failed > 0
    this.inFile = { passed: 0, failed: 0, skipped: 0 }
  }

  titleOf(depth, title) {
    return [...this.path.slice(1, depth), title.replace(/ # time=.*$/, '')].join(' > ')
  }

  isDiagnosis(line) {
    const indent = this.diagnosisIndent
    if (indent === undefined) return false
    const isInside = line === '' || line.startsWith(indent)
    const text = line.slice(indent.length)
    const isContent = isInside && text !== '---' && text !== '...' && text.trim() !== ''
    const failure = this.ended.failures.at(-1)
    // The title has the message of a thrown error; that of a comparison says little without its first difference.
    if (isContent && failure?.line === '' && /^\s*[-+](?!--|\+\+)/.test(text)) failure.line = text.trim()
    if (isContent && this.shownLines++ < longestDiagnosis) this.push(`    ${text}\n`)
    if (!isInside || text === '...') this.diagnosisIndent = undefined
    return isInside
  }
}
