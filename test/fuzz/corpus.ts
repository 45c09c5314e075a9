/**
 * What fuzzing found once, or nearly did, so that it is tried every time.
 * A text of JSON is bytes, one character each.
 */
export const corpus: Readonly<Record<'json' | 'frames', readonly (readonly [what: string, text: string])[]>> =
  {
    json: [
      ['a repeated key that only an escape hides', '{"a":1,"\\u0061":2}'],
      ['a key that an object has by itself', '{"__proto__":1,"toString":{},"__proto__":1}'],
      ['half of a character in bytes', '"\xed\xa0\x80"'],
      ['half of a character in an escape beside a whole one', '"\\ud83d\\ude00\\ude00"'],
      ['an integer that only a long way off is too large', '[-9007199254740991,9007199254740992]'],
      ['a negative zero in three ways', '[-0,-0.0,-0e5]'],
      ['a number that is an integer only when it is read', '[1e-320,5e-1,50e-1]'],
      ['a string that never ends after an escape', '{"a":"\\\\\\"'],
    ],
    frames: [
      [
        'a condition that an object has by itself, once dropped',
        '["REQ","ours",{"__proto__":["x"],"limit":1}]',
      ],
      ['a subscription of nothing', '["REQ","",{}]'],
      ['an answer about an event with more behind it', `["OK","${'ab'.repeat(32)}",true,"",{"more":1}]`],
    ],
  }
