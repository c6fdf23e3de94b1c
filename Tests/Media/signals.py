"""What a film shows and sounds like at which time: for questions that no header answers."""
import array
import json
import subprocess

RATE = 48000
# An AAC frame smears a beginning over some of these samples; nothing below counts as sound.
QUIET = 0.05


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def samples(path):
    """Mono, 48 kHz, -1 to 1, from the time 0 of the film on."""
    raw = output('ffmpeg', '-v', 'error', '-i', 'file:' + path, '-map', '0:a:0', '-af', 'aresample=async=1:first_pts=0',
                 '-ac', '1', '-ar', str(RATE), '-f', 'f32le', '-')
    return array.array('f', raw[:len(raw) // 4 * 4])


def onsets(loud, times, pause=0.3):
    """The times at which something begins that was away for `pause` seconds."""
    found, last = [], None
    for is_loud, time in zip(loud, times):
        if is_loud:
            if last is None or time - last >= pause:
                found.append(time)
            last = time
    return found


def beeps(path):
    sound = samples(path)
    return onsets((abs(value) > QUIET for value in sound), (index / RATE for index in range(len(sound))))


def flashes(path):
    """When the middle of the picture turns white."""
    frames = json.loads(output('ffprobe', '-v', 'error', '-select_streams', 'v:0', '-show_entries', 'frame=pts_time',
                               '-of', 'json', 'file:' + path))['frames']
    grey = output('ffmpeg', '-v', 'error', '-i', 'file:' + path, '-map', '0:v:0', '-vsync', 'passthrough', '-vf',
                  'crop=64:64,scale=1:1:flags=area,format=gray', '-f', 'rawvideo', '-')
    return onsets((level > 128 for level in grey), (float(frame['pts_time']) for frame in frames))


def frequency(path):
    """Hertz, of a film whose sound is one tone: half the changes of sign per second, away from both ends."""
    sound = samples(path)
    middle = sound[len(sound) // 4:len(sound) * 3 // 4]
    changes = sum(1 for a, b in zip(middle, middle[1:]) if (a < 0) != (b < 0))
    return changes / 2 / (len(middle) / RATE) if len(middle) else 0
