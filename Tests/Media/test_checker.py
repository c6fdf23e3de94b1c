"""The checker of the corpus must see a wrong result: each mistake is made on purpose here, and has to be named."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import check_corpus  # noqa: E402

PROGRAMS = Path(os.environ.get('TASKCENTER_BIN', HERE.parent.parent / '.build' / 'debug')).resolve()
# Mistake, file, and a word of what the checker has to say about it.
MISTAKES = [
    ('mirrored', 'v40', 'corners'), ('smaller', 'v40', 'size 320x240'), ('smaller', 'v40', 'reported bytes'),
    ('doubled frames', 'v40', 'fps'), ('silent', 'v40', 'sound is there or not'), ('mono', 'v40', 'channels'),
    ('index last', 'v40', 'index not at the front'), ('stretched', 'v40', 'aspect'),
    ('wrong matrix tag', 'v40', 'colour tags'), ('wrong range', 'v40', 'range or matrix'), ('short', 'v40', 'duration'),
    ('remark in the film', 'v40', 'private metadata'), ('other codec', 'v40', 'codec'), ('wrong numbers', 'v40', 'reported size'),
    ('touches the source', 'v40', 'the source was changed'),
    ('late sound', 'v06', 'apart'), ('silent', 'v06', 'flashes and beeps'), ('early sound', 'v19', 'sound begins'),
    ('other tone', 'v21', 'wrong track'),
    ('recoded', 'i01', 'not the same coded pixels'), ('PNG', 'i01', 'no JPEG'), ('smaller picture', 'i01', 'reported size'), ('turned picture', 'i01', 'corners'),
    ('remark', 'i01', 'metadata'), ('hole', 'i20', 'hole'),
    ('other code', 'b02', 'tooLarge, want'), ('insides', 'b02', 'insides in the message'),
    ('no name', 'b02', 'the file is not named'), ('left behind', 'b02', 'left a file behind'),
    ('accepts', 'b02', 'want'), ('crash', 'b02', 'exit -6'),
]


class Checker(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='taskcenter-checker-')
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        ids = ','.join(sorted({name for _, name, _ in MISTAKES}))
        subprocess.run([sys.executable, str(HERE / 'make_corpus.py'), cls.folder + '/corpus', '--only', ids], check=True,
                       stdout=subprocess.DEVNULL)
        os.mkdir(cls.folder + '/good')

    def check(self, mutation, ids):
        environment = os.environ | {'MUTATION': mutation, 'WORKER': str(PROGRAMS / 'taskcenter-export'),
                                    'GOOD': self.folder + '/good'}
        result = subprocess.run([sys.executable, str(HERE / 'check_corpus.py'), str(HERE / 'mutant_worker.py'),
                                 self.folder + '/corpus', '--ids', ids], env=environment, stdout=subprocess.PIPE, text=True)
        return result.returncode, result.stdout

    def test_a_right_result_passes_and_each_mistake_is_seen(self):
        status, said = self.check('', ','.join(sorted({name for _, name, _ in MISTAKES})))
        self.assertEqual(status, 0, said)
        for mutation, name, word in MISTAKES:
            with self.subTest(mutation, file=name):
                source = next(Path(self.folder, 'corpus').glob(name + '*'))
                before = source.read_bytes()
                status, said = self.check(mutation, name)
                source.write_bytes(before)
                self.assertEqual(status, 1)
                self.assertIn(word, said)

    def test_a_trace_that_asks_for_more_is_seen(self):
        quiet = '12 execve("/build/taskcenter-export", ["x"]) = 0\n12 openat(AT_FDCWD, "/usr/lib/libc.so.6", O_RDONLY) = 3\n'
        self.assertEqual(check_corpus.asked_for(quiet), [])
        for line in ('1 socket(AF_INET, SOCK_STREAM, 0) = -1 EPERM', '1 connect(3, {sa_family=AF_UNIX}, 110) = -1 EPERM',
                     '1 openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = -1 EACCES', '1 execve("/bin/sh", ["sh"]) = -1 EPERM'):
            self.assertEqual(len(check_corpus.asked_for(quiet + line)), 1, line)


if __name__ == '__main__':
    unittest.main()
