import type { PushWords } from '../push.ts'

export const push: PushWords = {
  asks: {
    execute: '运行命令？',
    edit: '修改文件？',
    delete: '删除文件？',
    move: '移动文件？',
    read: '读取文件？',
    search: '搜索？',
    fetch: '获取网页？',
    think: '继续？',
    plan: '按计划开始？',
    other: '使用工具？'
  },
  about: (what, session) => `${what}${session}`,
  risky: '有风险，请打开后决定',
  unreadable: '有智能体需要你',
  open: '打开',
  deny: '拒绝',
  allow: '允许一次',
  reply: '回答',
  replyHint: '你的回答',
  snooze: '静音 1 小时',
  sending: '正在发送',
  applied: { deny: '已生效：已拒绝', allow: '已生效：已允许一次', reply: '已生效：已回答' },
  sent: '已发送。打开查看结果。',
  unanswered: '服务器没有回应。打开查看结果。',
  undelivered: '无法送达，请打开应用',
  offline: '无法送达：没有连接。打开应用重试。',
  changed: '未发送任何内容：此请求已更改或已关闭。打开查看。',
  several: '未发送：有多个请求待处理，打开以决定。',
  snoozed: '一小时内不再通知',
  notSnoozed: '无法静音，请打开应用'
}
