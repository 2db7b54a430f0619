/** True from when an account was made in this window until its owner has been led through what comes first. Not kept: led once. */
let isFirst = false

export const isFirstRun = (): boolean => isFirst

export function noteFirstRun(is: boolean): void {
  isFirst = is
}
