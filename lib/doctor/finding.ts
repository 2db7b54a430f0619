/** The result of one check. */
export interface Finding {
  /** A word or two, the same in every run. */
  of: string
  state: 'ok' | 'warn' | 'fail'
  says: string
  /** What to do about it; only for problems. */
  advice?: string
}

export const ok = (of: string, says: string): Finding => ({ of, state: 'ok', says })
export const warn = (of: string, says: string, advice: string): Finding => ({ of, state: 'warn', says, advice })
export const fail = (of: string, says: string, advice: string): Finding => ({ of, state: 'fail', says, advice })
