#!/usr/bin/env python3
"""A worker whose results are wrong in one chosen way, to see whether check_corpus.py notices.

Takes the command line of `taskcenter-export --one`; $MUTATION names the mistake, $WORKER is the real one, and $GOOD a
folder where its results are kept, as making them takes longer than spoiling them.
"""
import json
import os
import shutil
import subprocess
import sys

ENCODE = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '16', '-pix_fmt', 'yuv420p', '-colorspace', 'bt709', '-color_trc',
          'bt709', '-color_primaries', 'bt709', '-color_range', 'tv', '-c:a', 'aac']
COPY = ['-c', 'copy']
FRONT = ['-movflags', '+faststart']
# Film: what is done to the good result.
FILMS = {
    'mirrored': ['-vf', 'hflip', *ENCODE, *FRONT],
    'smaller': ['-vf', 'scale=320:240', *ENCODE, *FRONT],
    'doubled frames': ['-r', '60', *ENCODE, *FRONT],
    'silent': ['-an', '-c:v', 'copy', *FRONT],
    'mono': ['-c:v', 'copy', '-ac', '1', *FRONT],
    'index last': COPY,
    'stretched': ['-vf', 'setsar=4/3', *ENCODE, *FRONT],
    'wrong matrix tag': [*COPY, '-bsf:v', 'h264_metadata=matrix_coefficients=5', *FRONT],
    'wrong range': ['-vf', 'scale=in_range=full:out_range=tv', *ENCODE, *FRONT],
    'short': ['-t', '1', *ENCODE, *FRONT],
    'late sound': ['-c:v', 'copy', '-af', 'adelay=100:all=1', *FRONT],
    'early sound': ['-c:v', 'copy', '-af', 'atrim=0.3,asetpts=PTS-STARTPTS', *FRONT],
    'other tone': ['-c:v', 'copy', '-af', 'asetrate=24000,aresample=48000', *FRONT],
    'remark in the film': [*COPY, '-metadata', 'comment=secret', *FRONT],
    'other codec': ['-c:v', 'mpeg4', *FRONT],
}
PICTURES = {
    'smaller picture': ['-vf', 'scale=100:-2', '-q:v', '2'],
    'hole': ['-vf', 'drawbox=iw/2-20:ih/2-20:40:40:black:fill', '-q:v', '2'],
    'turned picture': ['-vf', 'vflip', '-q:v', '2'],
    'recoded': ['-q:v', '2'],
    'PNG': ['-c:v', 'png'],
}


def good(source, out):
    kept = os.path.join(os.environ['GOOD'], os.path.basename(source))
    if not os.path.exists(kept + '.json'):
        result = subprocess.run([os.environ['WORKER'], *sys.argv[1:]], stdout=subprocess.PIPE)
        if os.path.exists(out):
            shutil.move(out, kept)
        with open(kept + '.json', 'wb') as file:
            file.write(result.stdout)
    if os.path.exists(kept):
        shutil.copy(kept, out)
    with open(kept + '.json') as file:
        return json.load(file)


def ffmpeg(out, options, container):
    spoiled = out + '.' + container
    subprocess.run(['ffmpeg', '-v', 'error', '-y', '-i', 'file:' + out, '-fflags', '+bitexact', '-flags:v', '+bitexact',
                    '-flags:a', '+bitexact', *options, 'file:' + spoiled], check=True)
    os.replace(spoiled, out)


def main():
    source, out = sys.argv[-2:]
    mutation = os.environ.get('MUTATION', '')
    report = good(source, out)
    if mutation in FILMS:
        ffmpeg(out, FILMS[mutation], 'mp4')
        if mutation not in ('smaller',):
            report['size'] = os.path.getsize(out)
    elif mutation in PICTURES:
        ffmpeg(out, PICTURES[mutation], 'png' if mutation == 'PNG' else 'jpg')
    elif mutation == 'remark':
        subprocess.run(['exiftool', '-q', '-overwrite_original', '-Comment=secret', out], check=True)
    elif mutation == 'wrong numbers':
        report['width'] += 2
    elif mutation == 'other code':
        report['code'] = 'tooLarge'
    elif mutation == 'insides':
        report['message'] += ' (AVERROR -1094995529)'
    elif mutation == 'no name':
        report['message'] = 'The file is in no format that can be sent here'
    elif mutation == 'left behind':
        open(out, 'w').close()
    elif mutation == 'crash':
        os.abort()
    elif mutation == 'accepts':
        report = {'id': 1, 'report': 'done', 'mime': 'video/mp4', 'size': 0, 'width': 2, 'height': 2, 'rung': 'x'}
    elif mutation == 'touches the source':
        with open(source, 'ab') as file:
            file.write(b'x')
    elif mutation:
        raise SystemExit(f'unknown mutation {mutation}')
    print(json.dumps(report))


main()
