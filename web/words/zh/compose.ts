import type { ComposeWords } from '../compose.ts'

export const compose: ComposeWords = {
  add: '添加到消息',
  photo: '照片',
  file: '文件',
  paste: '粘贴',
  nothingToPaste: '没有可粘贴的内容：没有复制文字或图片。',
  notPasted: '无法读取剪贴板。请长按输入框来粘贴。',
  command: '命令',
  mention: '提及文件',
  drop: '拖放到此处即可添加',
  expand: '全屏书写',
  collapse: '在对话下方书写',
  steerHint: '长按或 Alt Enter 立即转向',
  uploading: '文件上传后即发送。',
  waking: agent => `${agent} 启动后即发送。`,

  attached: '已添加的文件',
  remove: name => `移除 ${name}`,
  reading: '正在读取',
  percent: sent => `${sent} %`,
  unfit: {
    'too-large': name => `${name} 超过 10 MB`,
    'no-heic': name => `无法读取 ${name}：此浏览器打不开 HEIC 照片`,
    unreadable: name => `无法读取 ${name}`,
    empty: name => `${name} 是空的`,
    away: name => `${name} 没有到达服务器`
  },
  others: count => `其余 ${count} 个已添加。`,
  loadPicture: (name, size) => `显示 ${name}，${size}`,
  noPicture: name => `无法显示 ${name}`,

  waits: count => `${count} 条等待`,
  waitsHint: '这一步之后读取',
  waitsHere: '在此设备上',
  steer: '立即转向',
  changing: '正在修改等待中的消息',
  keepChange: '保存修改',
  moveUp: '上移',
  edit: '编辑',
  withdraw: '撤回',
  withdrawn: '已撤回',

  commands: '命令',
  files: '文件',

  actions: '消息操作',
  copy: '复制文字',
  again: '再写一次',
  stages: { stored: '已存储', machine: host => `已到 ${host}`, read: agent => `${agent} 已读` },
  notYet: '尚未',
  unknownTime: '在你查看之前',
  steered: '已转向',

  model: '模型',
  effort: '思考程度',
  mode: '模式',
  fromNext: '从下一步起生效。',
  rides: '随你的下一条消息生效。',
  notChanged: host => `${host} 没有更改。`,

  on: '开',
  off: '关',
  usage: '账户用量',
  window: (length, of) => (of === undefined ? length : `${length}，${of}`),
  days: count => (count === 7 ? '一周' : `${count} 天`),
  hours: count => `${count} 小时`,
  used: (percent, resets) => [percent && `已用 ${percent}`, resets && `${resets} 重置`].filter(Boolean).join('，'),

  interrupt: '中断',
  interrupting: '正在中断',
  end: '结束进程'
}
