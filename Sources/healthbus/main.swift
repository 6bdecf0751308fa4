import Foundation
import Logging
import Processes
import Terminal

// Output to a pipe or a file is for programs: `awk` can't add numbers with spaces in them.
if !Terminal(.output).isTerminal || !Terminal(.error).isTerminal {
    HumanFormat.usePlainDigits()
} else {
    HumanFormat.useLanguage(of: ProcessInfo.processInfo.environment)
}

do {
    try Commands.run(Array(CommandLine.arguments.dropFirst()))
} catch let quiet as Quiet {
    exit(quiet.code.rawValue)
} catch {
    reportAndExit(error, program: "healthbus")
}
