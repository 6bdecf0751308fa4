import Foundation
import Logging
import Supervisor
import Terminal

do {
    try Commands.run(Array(CommandLine.arguments.dropFirst()))
} catch let quiet as Quiet {
    exit(quiet.code.rawValue)
} catch {
    reportAndExit(error, program: "healthbus")
}
