import type { TimeWords } from '../time.ts'

export const time: TimeWords = {
  now: '刚刚',
  justNow: '刚刚',
  minutes: n => `${n} 分钟`,
  hours: n => `${n} 小时`,
  hoursAndMinutes: (hours, minutes) => `${hours} 小时 ${minutes} 分`,
  minutesAndSeconds: (minutes, seconds) => `${minutes} 分 ${seconds} 秒`,
  seconds: n => `${n} 秒`,
  underAMinute: '不到 1 分钟',
  minutesAgo: n => `${n} 分钟前`,
  hoursAgo: n => `${n} 小时前`,
  on: day => day
}
