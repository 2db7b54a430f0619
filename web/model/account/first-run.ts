/** True from the creation of an account in this window until the first-run steps are done. Not stored: they are shown once. */
let isFirst = false

export const isFirstRun = (): boolean => isFirst

export function noteFirstRun(is: boolean): void {
  isFirst = is
}
