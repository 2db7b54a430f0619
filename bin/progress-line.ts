/** One progress line on a terminal; nothing if lines cannot be redrawn. */
export function progressLine(out: NodeJS.WriteStream) {
  let shown = ''
  const put = (text: string) => {
    if (!out.isTTY || process.env['TERM'] === 'dumb' || text === shown) return
    out.write(`\r\x1b[K${text}`)
    shown = text
  }
  return {
    show(step: string, progress?: { done: number; total: number }) {
      const percent = progress && progress.total > 0 ? ` ${Math.min(100, Math.floor((100 * progress.done) / progress.total))} %` : ''
      put(`${step}${percent} …`)
    },
    clear: () => put('')
  }
}
