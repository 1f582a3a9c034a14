# Runs a command for which the disk cannot keep anything: perl failing-sync.pl PRCTL SYNC... -- COMMAND...
# The system calls with the numbers SYNC fail with an I/O error in it, by a seccomp filter; PRCTL is the number of prctl.
use strict;

use constant { PR_SET_SECCOMP => 22, PR_SET_NO_NEW_PRIVS => 38, SECCOMP_MODE_FILTER => 2 };
use constant { LOAD_WORD => 0x20, JUMP_IF_EQUAL => 0x15, RETURN => 0x06 };
use constant { ALLOW => 0x7fff0000, FAIL_WITH => 0x00050000, EIO => 5 };

my $prctl = shift;
my @syncs;
while (($_ = shift) ne '--') { push @syncs, $_ }

sub instruction { pack('S C C L', @_) }
my @filter = instruction(LOAD_WORD, 0, 0, 0);    # the number of the system call
my $behind = @syncs;
push @filter, instruction(JUMP_IF_EQUAL, $behind--, 0, $_) for @syncs;
push @filter, instruction(RETURN, 0, 0, ALLOW), instruction(RETURN, 0, 0, FAIL_WITH | EIO);

my $program = pack('S x![P] P', scalar @filter, join('', @filter));
syscall($prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 or die "no new privileges: $!\n";
syscall($prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, $program) == 0 or die "no filter: $!\n";
exec @ARGV or die "$ARGV[0]: $!\n";
