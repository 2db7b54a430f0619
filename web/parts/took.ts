/** A length of time as short as a row wants it: "6 s", "2 min", "1 h 5 min". */
export function seconds(ms: number): string {
  const whole = Math.round(ms / 1000)
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return minutes < 5 && whole % 60 > 0 ? `${minutes} min ${whole % 60} s` : `${minutes} min`
  return minutes % 60 === 0 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
