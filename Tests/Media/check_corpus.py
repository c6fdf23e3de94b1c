#!/usr/bin/env python3
"""Exports every file of a corpus (make_corpus.py) with `taskcenter-export --one` and compares with corpus.tsv.

usage: check_corpus.py WORKER CORPUS [--ids PREFIX[,PREFIX...]] [--box p720|p540|p480] [--memory BYTES]
Where strace is installed, scripts that name servers and files (b08-b10, b20) are watched for asking for them.
Exit status 0 if every row is as it should be.
"""
import csv
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import signals

BOXES = {'p720': '1280x720', 'p540': '960x540', 'p480': '640x480'}
# What a file must be refused for. Where a name is broken and strange at once, both are right.
REJECT = {
    'unreadable': {'damaged', 'unsupported'}, 'unsupported': {'unsupported'}, 'damaged': {'damaged', 'unsupported'},
    'too_many_pixels': {'tooManyPixels'}, 'no_video': {'noVideo'}, 'empty': {'damaged'},
}
# The one right code for files that are hostile or broken on purpose.
CODES = {
    'b01': 'damaged', 'b02': 'unsupported', 'b05': 'damaged', 'b06': 'damaged', 'b08': 'unsupported',
    'b09': 'unsupported', 'b10': 'unsupported', 'b11': 'damaged', 'b12': 'unsupported', 'b13': 'unsupported',
    'b14': 'tooManyPixels', 'b15': 'tooManyPixels', 'b16': 'damaged', 'b17': 'unsupported', 'b18': 'unsupported',
    'b19': 'unsupported', 'i14': 'unsupported', 'i35': 'unsupported', 'h201': 'unsupported',
}
# Files that would have their reader open other files, or the network.
SCRIPTS = ('b08', 'b09', 'b10', 'b17', 'b18', 'b20')
SYNC = 0.040


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def probe(path):
    out = run('ffprobe', '-v', 'error', '-show_streams', '-show_format', '-of', 'json', 'file:' + path)
    return json.loads(out.stdout)


def top_boxes(path):
    found = []
    with open(path, 'rb') as file:
        while len(head := file.read(8)) == 8:
            size, kind = struct.unpack('>I4s', head)
            found.append(kind)
            file.seek(size - 8, 1)
    return found


def rate(text):
    a, b = (text.split('/') + ['1'])[:2]
    return float(a) / float(b) if float(b) else 0


def pixels(path, width, height, time=None):
    seek = ['-ss', str(time)] if time else []
    raw = run('ffmpeg', '-v', 'error', *seek, '-i', 'file:' + path, '-frames:v', '1', '-f', 'rawvideo', '-pix_fmt',
              'rgb24', '-').stdout
    if len(raw) < width * height * 3:
        return None
    return lambda x, y: tuple(raw[(y * width + x) * 3:(y * width + x) * 3 + 3])


def colour(pixel):
    r, g, b = pixel
    if r > 110 and g > 110 and b < 120:
        return 'Y'
    if r > 110 and g < 110 and b < 110:
        return 'R'
    if g > 110 and r < 140 and b < 140:
        return 'G'
    return 'B' if b > 90 and r < 120 and g < 140 else '?'


def corners(path, width, height, time=None):
    at = pixels(path, width, height, time)
    if not at:
        return '????', []
    o = max(0, min(width, height) // 14)
    found = [at(x, y) for x, y in ((o, o), (width - 1 - o, o), (o, height - 1 - o), (width - 1 - o, height - 1 - o))]
    return ''.join(colour(p) for p in found), found


def check_video(row, out, report, box, issues):
    info = probe(out)
    video = [s for s in info['streams'] if s['codec_type'] == 'video']
    audio = [s for s in info['streams'] if s['codec_type'] == 'audio']
    if len(video) != 1 or len(audio) > 1 or len(info['streams']) != 1 + len(audio):
        issues.append(f'streams {[s["codec_type"] for s in info["streams"]]}')
    video = video[0]
    width, height = video['width'], video['height']
    if f'{width}x{height}' != row[box]:
        issues.append(f'size {width}x{height}, want {row[box]}')
    if (report['width'], report['height']) != (width, height):
        issues.append(f'reported size {report["width"]}x{report["height"]}')
    if report['size'] != os.path.getsize(out):
        issues.append('reported bytes')
    duration = float(info['format']['duration'])
    if abs(duration - float(row['dur_s'])) > float(row['dur_tol_s']) + 0.001:
        issues.append(f'duration {duration:.3f}, want {row["dur_s"]}')
    if abs(report['durationMs'] / 1000 - duration) > 0.06:
        issues.append(f'reported duration {report["durationMs"]}, is {duration:.3f}')
    fps, want = rate(video['avg_frame_rate']), row['fps']
    limit = float(want.replace('<=', ''))
    if want.startswith('<=') and fps > limit + 0.1 or not want.startswith('<=') and abs(fps - limit) > max(0.6, limit * 0.04):
        issues.append(f'fps {fps:.2f}, want {want}')
    if (row['audio'] == 'none') != (not audio):
        issues.append('sound is there or not')
    if audio and '2ch' in row['audio'] and audio[0]['channels'] != 2 or '1ch' in row['audio'] and audio[0]['channels'] != 1:
        issues.append(f'channels {audio[0]["channels"]}')
    if audio and audio[0]['codec_name'] != 'aac' or video['codec_name'] != 'h264':
        issues.append('codec')
    order = top_boxes(out)
    if order.index(b'moov') > order.index(b'mdat'):
        issues.append('index not at the front')
    if video.get('side_data_list') or video.get('sample_aspect_ratio', '1:1') != '1:1':
        issues.append('rotation or aspect left')
    if video['pix_fmt'] != 'yuv420p':
        issues.append(video['pix_fmt'])
    if report['rung'] != 'remux' and (video.get('color_space'), video.get('color_transfer'), video.get('color_primaries'),
                                      video.get('color_range')) != ('bt709', 'bt709', 'bt709', 'tv'):
        issues.append('colour tags')
    data = open(out, 'rb').read()
    if any(x in data for x in (b'\xa9xyz', b'ISO6709', b'iPhone', b'secret', b'Lavf', b'\xa9too')):
        issues.append('private metadata')
    if row['corners'] == 'RGBY':
        found, px = corners(out, width, height, duration / 2 if duration > 1 and row['id'] != 'v48' else None)
        if found != 'RGBY':
            issues.append(f'corners {found} {px}')
        want_px = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0)]
        if row['id'] == 'v40' and any(abs(a - b) > 12 for p, q in zip(px, want_px) for a, b in zip(p, q)):
            issues.append(f'range or matrix {px}')


def check_times(row, source, out, issues):
    """What is asked of single files: sync, a late beginning, the right track."""
    if row['id'] == 'v06':
        pairs = [list(zip(signals.flashes(path), signals.beeps(path))) for path in (source, out)]
        if [len(found) for found in pairs] != [3, 3]:
            issues.append(f'flashes and beeps {pairs}')
        elif any(abs((flash - beep) - (was_flash - was_beep)) > SYNC
                 for (was_flash, was_beep), (flash, beep) in zip(*pairs)):
            issues.append(f'sound and picture apart {pairs}')
    if row['id'] == 'v19':
        found = signals.beeps(out)
        if not found or abs(found[0] - 0.70) > 0.05:
            issues.append(f'sound begins at {found[:1]}, want 0.70')
    if row['id'] == 'v21' and abs(signals.frequency(out) - 1200) > 20:
        issues.append(f'the tone of the wrong track: {signals.frequency(out):.0f} Hz')


def check_sentence(message, name, issues):
    """A refusal is for a person: it names the file, says what is wrong, and speaks of no insides."""
    if len(message.split()) < 3 or message[:1] not in '“"ABCDEFGHIJKLMNOPQRSTUVWXYZ':
        issues.append(f'no sentence: {message}')
    if f'“{name}”' not in message:
        issues.append(f'the file is not named: {message}')
    if re.search(r'AVERROR|errno|vips|ffmpeg|libav|0x[0-9a-f]|-\d{3,}|/', message.replace(name, ''), re.IGNORECASE):
        issues.append(f'insides in the message: {message}')


def asked_for(trace):
    """What a traced worker asked the system for that no export needs."""
    return sorted(set(re.findall(r'socket\(AF_INET|connect\(|"/etc/passwd"|"[^"]*secret[^"]*"|execve\((?!"[^"]*taskcenter-export)',
                                 trace)))


def marked_parts(data):
    """A JPEG's markers with their contents up to the end of its first picture; an SOS with the scan behind it."""
    parts, at = [], 2
    while data[at + 1] != 0xD9:
        end = at + 2 + struct.unpack('>H', data[at + 2:at + 4])[0]
        if data[at + 1] == 0xDA:
            while data[end] != 0xFF or data[end + 1] == 0 or 0xD0 <= data[end + 1] <= 0xD7:
                end += 1
        parts.append((data[at + 1], data[at + 4:end]))
        at = end
    return parts, at + 2


# Clean at first sight but for what is cut away; all others have a reason to be encoded.
PASSED = {'i01', 'i17', 'i18', 'i27', 'i28', 'i29', 'i30', 'i31', 'i32', 'i36', 'n11', 'n14'}
# A pure colour of the profile at each corner, as sRGB can show it; the swapped one shows red where green is stored.
SHOWN = {'i22': ((255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0)), 'i23': ((255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0)),
         'i24': ((0, 255, 0), (255, 0, 0), (0, 0, 255), (255, 255, 0))}


def check_passed(source, out, report, issues):
    """Passed on: the same tables and scans, byte for byte, and nothing else but JFIF and Adobe."""
    before, after = open(source, 'rb').read(), open(out, 'rb').read()
    parts, end = marked_parts(after)
    if end != len(after):
        issues.append('something behind the end')
    picture = [part for part in marked_parts(before)[0] if not 0xE0 <= part[0] <= 0xEF and part[0] != 0xFE]
    if [part for part in parts if part[0] not in (0xE0, 0xEE)] != picture:
        issues.append('not the same coded pixels')
    if report['size'] > len(before):
        issues.append('larger than the source')


def check_image(row, source, out, report, issues):
    if open(out, 'rb').read(3) != b'\xff\xd8\xff':
        issues.append('no JPEG')
        return
    width, height = report['width'], report['height']
    real = probe(out)['streams'][0]
    if (real['width'], real['height']) != (width, height):
        issues.append('reported size')
    if row['p720'] != '-' and f'{width}x{height}' != row['p720']:
        issues.append(f'size {width}x{height}, want {row["p720"]}')
    if (report['rung'] == 'pass') != (row['id'] in PASSED):
        issues.append(f'rung {report["rung"]}')
    if report['rung'] == 'pass':
        check_passed(source, out, report, issues)
    if len(report.get('blurhash', '')) != 28:
        issues.append('blurhash')
    data = open(out, 'rb').read()
    if any(x in data for x in (b'GPS', b'Exif\0', b'ns.adobe.com', b'Moscow', b'home address', b'Ivan', b'12345\0', b'ftyp')):
        issues.append('private bytes')
    left = run('exiftool', '-s', '-G', '-EXIF:all', '-XMP:all', '-IPTC:all', '-MakerNotes:all', '-Comment', '-Trailer:all',
               '-ICC_Profile:all', '-ThumbnailImage', out).stdout.decode().strip()
    if left:
        issues.append('metadata ' + left[:80])
    at = pixels(out, width, height)
    if (row['id'] in ('i20', 'i21', 'i33') or row['notes'] == 'hole') and min(at(width // 2, height // 2)) < 240:
        issues.append(f'hole {at(width // 2, height // 2)}')
    if row['corners'] in ('RGBY', 'GRBY', 'RxBY'):
        found, px = corners(out, width, height)
        if any(want not in ('x', got) for want, got in zip(row['corners'], found)):
            issues.append(f'corners {found} {px}')
        if any(abs(a - b) > 3 for p, q in zip(px, SHOWN.get(row['id'], ())) for a, b in zip(p, q)):
            issues.append(f'colours {px}')


def check_audio(row, out, report, issues):
    info = probe(out)
    kinds = [s['codec_type'] for s in info['streams']]
    if kinds != ['audio']:
        issues.append(f'streams {kinds}')
    duration = float(info['format'].get('duration', 0))
    for name, found in (('duration', duration), ('reported duration', report['durationMs'] / 1000)):
        if abs(found - float(row['dur_s'])) > float(row['dur_tol_s']):
            issues.append(f'{name} {found:.3f}, want {row["dur_s"]}')
    tags = {k for k in info['format'].get('tags', {})} - {'major_brand', 'minor_version', 'compatible_brands'}
    if tags:
        issues.append(f'tags {tags}')


def main():
    words = sys.argv[1:]
    options = {'--ids': '', '--box': 'p720', '--memory': ''}
    for option in options:
        if option in words:
            at = words.index(option)
            options[option] = words[at + 1]
            del words[at:at + 2]
    worker, corpus = os.path.abspath(words[0]), os.path.abspath(words[1])
    prefixes = tuple(options['--ids'].split(','))
    memory = ['--memory-limit', options['--memory']] if options['--memory'] else []
    work = tempfile.mkdtemp()
    count = bad = 0
    for row in csv.DictReader(open(corpus + '/corpus.tsv'), delimiter='\t'):
        if not row['id'].startswith(prefixes):
            continue
        count += 1
        source = os.path.join(corpus, row['file'].replace('\\n', '\n'))
        out = os.path.join(work, row['id'] + '.part')
        kind = row['kind']
        arguments = {'video': ['--box', BOXES[options['--box']]], 'image': ['--long-edge', '2048'], 'audio': []}[kind]
        before = open(source, 'rb').read()
        start = time.time()
        trace = os.path.join(work, 'trace') if row['id'] in SCRIPTS and shutil.which('strace') else None
        watch = ['strace', '-f', '-o', trace, '-e', 'trace=network,openat,open,execve'] if trace else []
        result = run(*watch, worker, *memory, '--one', kind, *arguments, '--', source, out)
        took = time.time() - start
        issues = []
        if trace:
            text = open(trace, errors='replace').read()
            asked = asked_for(text.replace(source, 'SOURCE').replace(worker, 'taskcenter-export'))
            issues += [f'asked for {asked}'] if asked else []
        try:
            report = json.loads(result.stdout)
        except ValueError:
            report = {'report': 'crash', 'code': f'exit {result.returncode} {result.stderr[-120:]!r}'}
        if open(source, 'rb').read() != before:
            issues.append('the source was changed')
        verdict = report.get('code', report.get('rung'))
        if row['verdict'].startswith('reject'):
            want = REJECT[row['verdict'].split(':')[1]]
            if row['id'] in CODES:
                want = {CODES[row['id']]}
            if report.get('code') not in want:
                issues.append(f'{verdict}, want {want}')
            check_sentence(report.get('message', ''), os.path.basename(source), issues)
        elif report['report'] != 'done':
            issues.append(f'{verdict}: {report.get("message")}')
        else:
            {'video': lambda: check_video(row, out, report, options['--box'], issues),
             'image': lambda: check_image(row, source, out, report, issues),
             'audio': lambda: check_audio(row, out, report, issues)}[kind]()
            check_times(row, source, out, issues)
        if report['report'] != 'done' and os.path.exists(out):
            issues.append('left a file behind')
        bad += bool(issues)
        print('FAIL' if issues else 'ok  ', row['id'], f'{took:.1f}s', verdict, '|', '; '.join(issues), flush=True)
    shutil.rmtree(work, ignore_errors=True)
    print(f'{count - bad} passed, {bad} failed')
    sys.exit(1 if bad or not count else 0)


if __name__ == '__main__':
    main()
