import Foundation
import Logging
import Processes
import Terminal

do {
    try Commands.run(Array(CommandLine.arguments.dropFirst()))
} catch let quiet as Quiet {
    exit(quiet.code.rawValue)
} catch {
    reportAndExit(error, program: "healthbus")
}
