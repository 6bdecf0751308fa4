import Foundation
import Logging
import Processes
import Terminal

// Whatever a pipe or a file takes, programs read: `awk` sums no number with spaces in it.
if !Terminal(.output).isTerminal || !Terminal(.error).isTerminal { HumanFormat.usePlainDigits() }

do {
    try Commands.run(Array(CommandLine.arguments.dropFirst()))
} catch let quiet as Quiet {
    exit(quiet.code.rawValue)
} catch {
    reportAndExit(error, program: "healthbus")
}
