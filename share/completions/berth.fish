# Completion of berth for fish. berth itself knows its commands, options and jobs.
complete -c berth -a '(berth complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
