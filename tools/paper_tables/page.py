def write(found, plan, folder):
    return ""
