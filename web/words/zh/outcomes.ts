import type { OutcomeWords } from '../outcomes.ts'

export const outcomes: OutcomeWords = {
  life: {
    sent: '已发送',
    on: host => `已到 ${host}`,
    applied: '已生效',
    where: '你的答复的进度',
    hasIt: (host, agent) => `${host} 已收到，接下来由 ${agent} 处理。`
  },
  answeredElsewhere: '已在别处答复',
  answeredOnOther: '已在另一台设备上答复',
  tapSecond: '你的答复晚了一步，没有改变任何事。',
  withdrew: agent => `${agent} 撤回了请求`,
  youEnded: agent => `你结束了 ${agent}`,
  didNotRun: '它没有运行。',
  commandDidNotRun: '命令没有运行。',
  sessionStopped: '会话已停止',
  resumeAndAsk: '恢复并再次询问',
  askAgain: what => `我的答复到达之前你已结束。如果仍有需要，请再次询问我：${what}`,
  notApplied: '未生效',
  notAppliedWhy: {
    'not-connected': '没有连接，什么都没有发送。',
    away: host => `${host} 不在线。没有做出任何决定。`,
    'no-answer': host => `${host} 没有响应。是否生效尚不可知。`,
    failed: (host, why) => `${host} 拒绝了：${why}`,
    astray: host => `${host} 的答复对应的是另一件事。要么它运行的是旧版 Afield，要么服务器在传输中改动了什么。`,
    unreadable: host => `此应用无法读取 ${host} 的响应。`,
    stopped: agent => `${agent} 在读到之前就停止了。它没有运行。`
  }
}
